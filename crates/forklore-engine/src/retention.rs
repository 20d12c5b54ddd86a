//! `gc --policy`: puts sessions into the trash that were not changed for long, and erases what has
//! been in the trash for long.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::NonZeroU32;

use forklore_api::{
    AppliedRetention, ApplyRetention, Delete, DeleteMode, DueSession, Gc, Retention, SpareReason,
    SparedSession,
};
use forklore_core::{ErrorKind, Header, Label, SessionId, SessionKind};
use forklore_store::port::Filter;
use jiff::{SignedDuration, Timestamp};

use crate::delete::Family;
use crate::{Engine, Result};

const SECONDS_OF_A_DAY: u64 = 24 * 60 * 60;
/// How many default labels of a session are compared with its label. A session gets a later one
/// only if that many sessions of the family have its earlier ones.
const DEFAULT_LABELS: usize = 8;

impl Engine {
    /// Applies a retention policy, or plans it if the request is a dry run. First erases what has
    /// been in the trash for long enough, and collects garbage as [`collect`](Self::collect) does.
    /// Then puts the sessions into the trash that were not changed for long, each as
    /// [`delete`](Self::delete) does: its sub-agents go with it, and a session stays while a branch
    /// stays that is not detached. A running session stays, and so does one with a label that
    /// somebody chose. What goes into the trash is not erased by the same call.
    ///
    /// # Errors
    /// Those of [`collect`](Self::collect), and `internal` if the store cannot be read or written.
    /// A session that cannot be deleted is listed in `spared`.
    pub fn apply_retention(&self, request: &ApplyRetention) -> Result<AppliedRetention> {
        let policy = request.policy;
        let gc = trash_of(&policy);
        let erased = self.expired(&gc)?;
        let erased = self.store.headers(&erased)?.into_iter().filter_map(|header| {
            let header = header.ok()?;
            let since = header.deleted.map(|it| it.deleted)?;
            Some(due(&header, since, None))
        });
        let mut answer = AppliedRetention {
            policy,
            deleted: Vec::new(),
            erased: erased.collect(),
            spared: Vec::new(),
            collected: None,
            dry_run: request.dry_run,
        };
        if !request.dry_run {
            answer.collected = Some(self.collect(&gc)?);
        }
        let Some(before) = policy.delete_after_days.map(|days| self.days_ago(days)) else {
            return Ok(answer);
        };
        let mut plan = self.plan(&policy, before)?;
        answer.spared.append(&mut plan.spared);
        for group in plan.groups {
            if request.dry_run || self.delete_group(&group, before)? {
                answer.deleted.extend(group);
            } else if let Some(last) = group.into_iter().next_back() {
                answer.spared.push(SparedSession {
                    session_id: last.session_id,
                    label: last.label,
                    reason: SpareReason::Refused,
                    because_of: None,
                });
            }
        }
        Ok(answer)
    }

    /// Deletes a session with its sub-agents. Returns false if it changed since the plan, or is
    /// refused.
    fn delete_group(&self, group: &[DueSession], before: Timestamp) -> Result<bool> {
        let Some(session) = group.last().map(|last| last.session_id.clone()) else {
            return Ok(false);
        };
        let is_unchanged = |due: &DueSession| {
            self.store.header(&due.session_id).is_ok_and(|header| header.updated < before)
        };
        if !group.iter().all(is_unchanged) {
            return Ok(false);
        }
        let mode = DeleteMode::Refuse;
        match self.delete(&Delete { session, mode, dry_run: false, erase: false }) {
            Ok(_) => Ok(true),
            Err(error) => match error.kind() {
                ErrorKind::Busy
                | ErrorKind::HasChildren
                | ErrorKind::NotFound
                | ErrorKind::Conflict
                | ErrorKind::Corrupt => Ok(false),
                _ => Err(error),
            },
        }
    }

    /// Returns the time this many days ago, by the store's clock.
    fn days_ago(&self, days: NonZeroU32) -> Timestamp {
        let age = SignedDuration::from_hours(i64::from(days.get()) * 24);
        self.store.now().checked_sub(age).unwrap_or(Timestamp::MIN)
    }

    /// Determines which sessions go that were last changed before this time.
    fn plan(&self, policy: &Retention, before: Timestamp) -> Result<Plan> {
        let mut families: BTreeMap<SessionId, Vec<Header>> = BTreeMap::new();
        for header in self.store.sessions(&Filter::default(), None, 0)?.sound {
            families.entry(header.root_id.clone()).or_default().push(header);
        }
        let mut plan = Plan::default();
        let now = self.now();
        for (_, mut headers) in families {
            let family = Family::of(headers.clone(), now);
            headers.sort_by(|a, b| b.depth.cmp(&a.depth).then_with(|| a.id.cmp(&b.id)));
            plan.family(&headers, &family, policy, before);
        }
        Ok(plan)
    }
}

/// Returns which part of the trash a policy erases.
fn trash_of(policy: &Retention) -> Gc {
    policy.erase_after_days.map_or_else(Gc::default, |days| Gc {
        trash_older_than_seconds: u64::from(days.get()) * SECONDS_OF_A_DAY,
    })
}

/// What a policy does to the living sessions.
#[derive(Default)]
struct Plan {
    /// The sessions that go, each with its sub-agents before it. Branches come before the session
    /// that they were forked from.
    groups: Vec<Vec<DueSession>>,
    spared: Vec<SparedSession>,
}

impl Plan {
    /// Plans for one family. `headers` are its living sessions, the deepest first.
    fn family(
        &mut self,
        headers: &[Header],
        family: &Family,
        policy: &Retention,
        before: Timestamp,
    ) {
        let by_id: HashMap<_, _> = headers.iter().map(|header| (&header.id, header)).collect();
        let mut going: HashSet<SessionId> = HashSet::new();
        for header in headers {
            let parent = header.parent_id.as_ref();
            let follows_parent = header.kind == SessionKind::Delegate
                && parent.is_some_and(|parent| by_id.contains_key(parent));
            if follows_parent || header.updated >= before {
                continue;
            }
            let set = family.closed_set(header, false);
            let members: Vec<_> = set.iter().filter_map(|id| by_id.get(id).copied()).collect();
            if let Some((reason, other)) = obstacle(&members, family, policy, before, &going) {
                self.spared.push(SparedSession {
                    session_id: header.id.clone(),
                    label: header.label.clone(),
                    reason,
                    because_of: Some(other).filter(|other| *other != header.id),
                });
                continue;
            }
            going.extend(set.iter().cloned());
            let with = |member: &Header| Some(header.id.clone()).filter(|id| *id != member.id);
            let group = members.iter().map(|member| due(member, member.updated, with(member)));
            self.groups.push(group.collect());
        }
    }
}

/// Returns why a session and its sub-agents stay, and the session that is the reason.
fn obstacle(
    members: &[&Header],
    family: &Family,
    policy: &Retention,
    before: Timestamp,
    going: &HashSet<SessionId>,
) -> Option<(SpareReason, SessionId)> {
    // The session itself is the last one, and its own reasons come first.
    members.iter().rev().find_map(|member| {
        let id = || member.id.clone();
        if family.is_leased(&member.id) {
            return Some((SpareReason::Running, id()));
        }
        if member.updated >= before {
            return Some((SpareReason::Changed, id()));
        }
        if policy.spare_labelled && has_chosen_label(member) {
            return Some((SpareReason::Labelled, id()));
        }
        let children = family.children(&member.id).iter();
        let mut staying =
            children.filter(|child| Family::builds_on_parent(child) && !going.contains(&child.id));
        staying.next().map(|child| (SpareReason::HasChildren, child.id.clone()))
    })
}

/// Checks whether somebody chose the label of a session: it is none that a session gets by itself.
fn has_chosen_label(header: &Header) -> bool {
    let Header { id, kind, label, .. } = header;
    let is_default = *label == Label::main()
        || label.as_str().starts_with("revision-")
        || (0..DEFAULT_LABELS).any(|attempt| Label::of_child(*kind, id, attempt) == *label);
    !is_default
}

fn due(header: &Header, since: Timestamp, with: Option<SessionId>) -> DueSession {
    DueSession {
        session_id: header.id.clone(),
        label: header.label.clone(),
        title: header.title.clone(),
        since,
        with,
    }
}

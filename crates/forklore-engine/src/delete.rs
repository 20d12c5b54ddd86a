//! `delete`: puts sessions into the trash, or erases them, but retains the events that other
//! sessions inherit.

use std::collections::{HashMap, HashSet};

use forklore_api::{Delete, DeleteMode, Deleted};
use forklore_core::operation::OperationKind;
use forklore_core::{Header, Lease, SessionId, SessionKind};
use forklore_store::Error as StoreError;
use forklore_store::port::{Children, Committed, Deletion, Filter, Removal, Removed, Write};
use forklore_store::rules::lease_of_other;
use jiff::Timestamp;

use crate::{Engine, Result, living};

/// Maximum number of attempts of a cascading delete. Another attempt is necessary if another writer
/// created a branch in the subtree in the meantime.
const TRIES: usize = 8;

impl Engine {
    /// Deletes a session: puts it into the trash. If the request sets `erase`, erases the session
    /// instead, even from the trash. Also deletes those of its delegates (sub-agent sessions) that
    /// have no branch children (docs/semantics.md, Delete, detach). In cascade mode, also deletes
    /// the descendants, except detached ones (which have their own copy of the inherited events).
    ///
    /// # Errors
    /// `has_children` if the session has a branch child that is not detached and the request does
    /// not allow that; `busy` if a session to delete is leased; `not_found` if the session does not
    /// exist. After an error, no session was deleted.
    pub fn delete(&self, request: &Delete) -> Result<Deleted> {
        let now = self.now();
        let mut tries = TRIES;
        loop {
            let set = self.closed_set(request, now)?;
            let Set { sessions, family, deletion } = &set;
            if request.dry_run {
                family.refuse_leased(sessions)?;
                let detach_first = self.store.capabilities().detach_first;
                if request.mode != DeleteMode::DetachChildren || detach_first {
                    family.refuse_branches(sessions)?;
                }
                return Ok(Deleted { deleted: set.sessions, retained_segments: 0, dry_run: true });
            }
            let children = match request.mode {
                DeleteMode::DetachChildren => Children::Retain,
                DeleteMode::Refuse | DeleteMode::Cascade => Children::Refuse,
            };
            tries -= 1;
            let removal =
                Removal { sessions: sessions.clone(), children, deletion: *deletion, now };
            let write = Write::Remove(removal);
            let committed = self.store.commit(self.recorded(OperationKind::Delete, vec![write]));
            match committed.and_then(Committed::removed) {
                Ok(Removed { deleted, retained_segments }) => {
                    let (session, sessions) = (&request.session, deleted.len());
                    tracing::info!(%session, sessions, retained_segments, "deleted sessions");
                    return Ok(Deleted { deleted, retained_segments, dry_run: false });
                }
                // A branch was created after the headers were read. The cascade must delete it too.
                Err(StoreError::HasChildren { .. })
                    if request.mode == DeleteMode::Cascade && tries > 0 => {}
                Err(refused) => return Err(refused.into()),
            }
        }
    }

    /// Determines from the current headers which sessions the delete request removes.
    fn closed_set(&self, request: &Delete, now: Timestamp) -> Result<Set> {
        let header = self.store.header(&request.session)?;
        if let Some(tombstone) = header.deleted.filter(|it| request.erase && it.restorable) {
            let together = self.deleted_together(&header, request.mode == DeleteMode::Cascade)?;
            let sessions = together.into_iter().rev().map(|header| header.id).collect();
            let family = Family::of(Vec::new(), now);
            // A session that was brought back meanwhile must not be erased.
            return Ok(Set { sessions, family, deletion: Deletion::Expire(tombstone.deleted) });
        }
        let header = living(header)?;
        let filter = Filter { family: Some(header.root_id.clone()), ..Filter::default() };
        // A damaged header may belong to a descendant. Return it as an error.
        let family = Family::of(self.store.sessions(&filter, None, 0)?.all()?, now);
        let sessions = family.closed_set(&header, request.mode == DeleteMode::Cascade);
        let deletion = if request.erase { Deletion::Erase } else { Deletion::Trash };
        Ok(Set { sessions, family, deletion })
    }
}

/// The sessions that one delete request removes together, and the family (all sessions with one
/// root) that contains them.
struct Set {
    sessions: Vec<SessionId>,
    family: Family,
    deletion: Deletion,
}

/// The children and the lease of each session in a family. Leaves out deleted sessions.
pub(crate) struct Family {
    children: HashMap<SessionId, Vec<Header>>,
    leases: HashMap<SessionId, Lease>,
}

impl Family {
    pub(crate) fn of(sessions: Vec<Header>, now: Timestamp) -> Self {
        let mut children: HashMap<SessionId, Vec<Header>> = HashMap::new();
        let mut leases = HashMap::new();
        for header in sessions {
            let lease = lease_of_other(&header, None, now);
            leases.extend(lease.map(|lease| (header.id.clone(), lease.clone())));
            if let Some(parent) = header.parent_id.clone() {
                children.entry(parent).or_default().push(header);
            }
        }
        Self { children, leases }
    }

    /// Returns the living children of a session.
    pub(crate) fn children(&self, id: &SessionId) -> &[Header] {
        self.children.get(id).map_or(&[], Vec::as_slice)
    }

    /// Checks whether `child` prevents a delete of its parent. It does if it is a branch and not
    /// detached, even if its strategy is `replay_v1` (docs/semantics.md, Delete, detach).
    pub(crate) fn builds_on_parent(child: &Header) -> bool {
        child.kind == SessionKind::Branch && !child.detached
    }

    /// Returns the session of `header` and the sessions that must be deleted with it, descendants
    /// before ancestors. If `cascade` is true, these are all descendants except detached branches
    /// and the descendants of such branches. Otherwise, they are only delegates (sub-agent
    /// sessions) on which no branch depends.
    pub(crate) fn closed_set(&self, header: &Header, cascade: bool) -> Vec<SessionId> {
        let mut set = vec![header.id.clone()];
        let mut seen = HashSet::from([header.id.clone()]);
        let mut stack = vec![header.id.clone()];
        while let Some(id) = stack.pop() {
            for child in self.children(&id) {
                let follows = if child.kind == SessionKind::Delegate {
                    cascade || !self.children(&child.id).iter().any(Self::builds_on_parent)
                } else {
                    cascade && Self::builds_on_parent(child)
                };
                if follows && seen.insert(child.id.clone()) {
                    set.push(child.id.clone());
                    stack.push(child.id.clone());
                }
            }
        }
        // The walk found parents before their children. Reverse the order.
        set.reverse();
        set
    }

    /// Checks whether another process has leased a session.
    pub(crate) fn is_leased(&self, id: &SessionId) -> bool {
        self.leases.contains_key(id)
    }

    /// Returns an error if one of the sessions in `set` is leased.
    fn refuse_leased(&self, set: &[SessionId]) -> Result<()> {
        for session in set {
            if let Some(lease) = self.leases.get(session) {
                let (session, owner) = (session.clone(), lease.owner.clone());
                return Err(StoreError::Leased { session, owner }.into());
            }
        }
        Ok(())
    }

    fn refuse_branches(&self, set: &[SessionId]) -> Result<()> {
        let members: HashSet<_> = set.iter().collect();
        for session in set {
            let outside =
                |child: &&Header| Self::builds_on_parent(child) && !members.contains(&child.id);
            let children: Vec<_> = self.children(session).iter().filter(outside).collect();
            if !children.is_empty() {
                return Err(StoreError::HasChildren {
                    session: session.clone(),
                    count: children.len(),
                    children: children.into_iter().take(20).map(|c| c.id.clone()).collect(),
                }
                .into());
            }
        }
        Ok(())
    }
}

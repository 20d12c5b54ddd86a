//! Plans an undo: for each outcome of an operation, how to take the outcome back, or why that is
//! not possible.

use std::collections::{BTreeMap, HashMap, HashSet};

use forklore_api::{LeftAlone, UndeletedSession, Undone};
use forklore_core::operation::{Obstacle, Operation, OperationId, Outcome};
use forklore_core::{Header, SessionId};
use forklore_store::Error as StoreError;
use forklore_store::port::{Change, Children, Deletion, Filter, Removal, Write};
use forklore_store::rules::builds_on_parent;
use jiff::Timestamp;

use crate::{Engine, Error, Result};

/// Maximum number of families whose sessions are listed one family after the other. For more, all
/// sessions are listed at once.
const FAMILIES: usize = 4;

/// What an undo will change, and what it will leave as it is.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The outcomes of the operation that the undo takes back.
    pub(crate) expected: Vec<Outcome>,
    /// The sessions of which something is not taken back, each with the reason.
    pub(crate) left: Vec<LeftAlone>,
    /// The sessions that come back from the trash, each with the seq of its head. Parents come
    /// before their children.
    restored: Vec<(UndeletedSession, i64)>,
    /// The changes of labels, titles and leaves, each with its own outcome, which the answer of the
    /// undo lists.
    changes: Vec<(Change, Outcome)>,
    /// The sessions that go into the trash, children before their parents.
    trashed: Vec<SessionId>,
}

/// Returns the headers of the sessions of an operation. Leaves out sessions of which nothing is
/// left.
fn headers(engine: &Engine, operation: &Operation) -> Result<HashMap<SessionId, Header>> {
    let mut seen = HashSet::new();
    let sessions = operation.outcomes.iter().map(Outcome::session);
    let sessions: Vec<_> = sessions.filter(|id| seen.insert(*id)).cloned().collect();
    let found = engine.store().headers(&sessions)?;
    let mut headers = HashMap::new();
    for (session, header) in sessions.into_iter().zip(found) {
        match header {
            Ok(header) => drop(headers.insert(session, header)),
            // Nothing of this session is left.
            Err(StoreError::NotFound(_) | StoreError::Deleted(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(headers)
}

impl Plan {
    /// Plans the undo of an operation.
    pub(crate) fn of(engine: &Engine, operation: &Operation) -> Result<Self> {
        let headers = headers(engine, operation)?;
        let mut plan = Self::over(engine, operation, &headers)?;
        plan.leave_parents(engine, &headers)?;
        plan.order(engine, &headers)?;
        Ok(plan)
    }

    /// Plans the undo of an operation without reading sessions that the operation does not name.
    /// The plan therefore ignores branches of its sessions, although such branches prevent a
    /// delete.
    pub(crate) fn of_outcomes(engine: &Engine, operation: &Operation) -> Result<Self> {
        Self::over(engine, operation, &headers(engine, operation)?)
    }

    fn over(
        engine: &Engine,
        operation: &Operation,
        headers: &HashMap<SessionId, Header>,
    ) -> Result<Self> {
        let made = operation.outcomes.iter().filter(|outcome| is_made(outcome));
        let made: HashSet<_> = made.map(Outcome::session).collect();
        let mut plan = Self::default();
        // The last outcome is taken back first.
        for outcome in operation.outcomes.iter().rev() {
            // Whatever else happened to a session that goes into the trash need not be taken back.
            if !is_made(outcome) && made.contains(outcome.session()) {
                continue;
            }
            let session = outcome.session().clone();
            let obstacle = match headers.get(&session) {
                _ if outcome.why_final().is_some() => outcome.why_final(),
                None => Some(Obstacle::Erased),
                Some(header) => match outcome.changed_since(header) {
                    None => plan.take_back(engine, outcome, header)?,
                    changed => changed,
                },
            };
            match obstacle {
                Some(obstacle) => plan.left.push(LeftAlone { session_id: session, obstacle }),
                None => plan.expected.push(outcome.clone()),
            }
        }
        Ok(plan)
    }

    /// Adds to the plan what takes the outcome back, and returns `None`. If that is not possible,
    /// adds nothing and returns the reason.
    fn take_back(
        &mut self,
        engine: &Engine,
        outcome: &Outcome,
        header: &Header,
    ) -> Result<Option<Obstacle>> {
        let session_id = header.id.clone();
        match outcome.clone() {
            Outcome::Created { .. } | Outcome::Restored { .. } => {
                if engine.is_leased(header) {
                    return Ok(Some(Obstacle::Running));
                }
                self.trashed.push(session_id);
            }
            Outcome::Deleted { .. } => {
                let label = header.label.clone();
                let session = UndeletedSession { session_id, label, former_label: None };
                self.restored.push((session, header.head_seq()));
            }
            Outcome::Labelled { before, after, .. } => {
                if engine.label_owner(header, &before)?.is_some() {
                    return Ok(Some(Obstacle::LabelInUse));
                }
                let change = Change::Label(before.clone());
                let outcome = Outcome::Labelled { session_id, before: after, after: before };
                self.changes.push((change, outcome));
            }
            Outcome::Renamed { before, after, .. } => {
                let change = Change::Title(before.clone());
                let outcome = Outcome::Renamed { session_id, before: after, after: before };
                self.changes.push((change, outcome));
            }
            Outcome::Leaf { before, after, .. } => {
                let change = Change::Leaf(before.clone());
                let outcome = Outcome::Leaf { session_id, before: after, after: before };
                self.changes.push((change, outcome));
            }
            // They are final.
            Outcome::Appended { .. }
            | Outcome::Erased { .. }
            | Outcome::Detached { .. }
            | Outcome::Redacted { .. }
            | Outcome::Forgotten { .. } => {}
        }
        Ok(None)
    }

    /// Removes from `trashed` each session with a branch that builds on it and does not go into the
    /// trash too. Adds the session to `left`.
    fn leave_parents(
        &mut self,
        engine: &Engine,
        headers: &HashMap<SessionId, Header>,
    ) -> Result<()> {
        if self.trashed.is_empty() {
            return Ok(());
        }
        let roots = self.trashed.iter().filter_map(|id| Some(&headers.get(id)?.root_id));
        let roots: HashSet<_> = roots.collect();
        let filters = match roots.len() {
            0..=FAMILIES => {
                let of = |root: &SessionId| Filter { family: Some(root.clone()), ..<_>::default() };
                roots.into_iter().map(of).collect()
            }
            _ => vec![Filter::default()],
        };
        let mut children: HashMap<SessionId, Vec<SessionId>> = HashMap::new();
        for filter in filters {
            let living = engine.store().sessions(&filter, None, 0)?.all()?;
            for child in living.into_iter().filter(builds_on_parent) {
                if let Some(parent) = child.parent_id {
                    children.entry(parent).or_default().push(child.id);
                }
            }
        }
        let mut set: HashSet<SessionId> = self.trashed.iter().cloned().collect();
        let mut parents = HashSet::new();
        loop {
            let remain = |id: &SessionId| {
                let children = children.get(id).into_iter().flatten();
                children.filter(|child| !set.contains(*child)).count() as u64
            };
            let stay: Vec<_> = self.trashed.iter().map(|id| (id.clone(), remain(id))).collect();
            let stay: Vec<_> = stay.into_iter().filter(|(_, branches)| *branches > 0).collect();
            if stay.is_empty() {
                self.expected.retain(|outcome| !parents.contains(outcome.session()));
                return Ok(());
            }
            for (session_id, branches) in stay {
                set.remove(&session_id);
                parents.insert(session_id.clone());
                let obstacle = Obstacle::HasBranches { branches };
                self.left.push(LeftAlone { session_id, obstacle });
            }
            self.trashed.retain(|id| set.contains(id));
        }
    }

    /// Orders the plan: parents come back before their children, and children are deleted before
    /// their parents. Also chooses the labels of the sessions that come back.
    fn order(&mut self, engine: &Engine, headers: &HashMap<SessionId, Header>) -> Result<()> {
        let depth = |id: &SessionId| headers.get(id).map_or(0, |header| header.depth);
        self.trashed.sort_by_key(|id| std::cmp::Reverse(depth(id)));
        let mut families: BTreeMap<&SessionId, Vec<Header>> = BTreeMap::new();
        for (session, _) in &self.restored {
            if let Some(header) = headers.get(&session.session_id) {
                families.entry(&header.root_id).or_default().push(header.clone());
            }
        }
        let mut restored = Vec::with_capacity(self.restored.len());
        for mut family in families.into_values() {
            family.sort_by(|a, b| a.depth.cmp(&b.depth).then_with(|| a.id.cmp(&b.id)));
            let heads: Vec<_> = family.iter().map(Header::head_seq).collect();
            restored.extend(engine.with_labels(family)?.into_iter().zip(heads));
        }
        self.restored = restored;
        Ok(())
    }

    /// Checks whether the plan takes nothing back.
    pub(crate) fn is_empty(&self) -> bool {
        self.restored.is_empty() && self.changes.is_empty() && self.trashed.is_empty()
    }

    /// Checks whether the plan leaves a session as it is for any other reason than appended events,
    /// which no undo removes.
    pub(crate) fn is_changed(&self) -> bool {
        self.left.iter().any(|left| !matches!(left.obstacle, Obstacle::EventsStay { .. }))
    }

    /// Returns an error if the operation was undone already, if nothing of it can ever be taken
    /// back, or if sessions of it changed after it. With `partial`, changed sessions are an error
    /// only if the plan takes nothing back.
    pub(crate) fn check(&self, operation: &Operation, partial: bool) -> Result<()> {
        let id = operation.id;
        if let Some(by) = operation.undone_by {
            return Err(Error::AlreadyUndone { operation: id, by });
        }
        let left = || self.left.clone();
        if operation.outcomes.iter().all(|outcome| outcome.why_final().is_some()) {
            return Err(Error::NotUndoable { operation: id, left: left() });
        }
        if self.is_empty() || (self.is_changed() && !partial) {
            let rest = !self.is_empty();
            return Err(Error::ChangedSince { operation: id, left: left(), rest });
        }
        Ok(())
    }

    /// Returns the writes of the undo. `now` is the time of the caller.
    pub(crate) fn writes(&self, now: Timestamp) -> Vec<Write> {
        let restored = self.restored.iter().map(|(session, _)| Write::Change {
            session: session.session_id.clone(),
            change: Change::Undelete(session.label.clone()),
        });
        let changes = self.changes.iter().map(|(change, outcome)| Write::Change {
            session: outcome.session().clone(),
            change: change.clone(),
        });
        let trashed = (!self.trashed.is_empty()).then(|| {
            Write::Remove(Removal {
                sessions: self.trashed.clone(),
                children: Children::Refuse,
                deletion: Deletion::Trash,
                now,
            })
        });
        restored.chain(changes).chain(trashed).collect()
    }

    /// Returns the answer of the undo. `recorded_as` is the number of the operation that records
    /// the undo; `None` for a dry run.
    pub(crate) fn undone(self, operation: &Operation, recorded_as: Option<OperationId>) -> Undone {
        let restored = self.restored.into_iter().map(|(session, head_seq)| Outcome::Restored {
            session_id: session.session_id,
            head_seq,
        });
        let changes = self.changes.into_iter().map(|(_, outcome)| outcome);
        let trashed = self.trashed.into_iter().map(|session_id| Outcome::Deleted { session_id });
        Undone {
            operation: operation.id,
            recorded_as,
            outcomes: restored.chain(changes).chain(trashed).collect(),
            left: self.left,
            dry_run: recorded_as.is_none(),
        }
    }
}

/// Checks whether a delete takes the outcome back.
fn is_made(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Created { .. } | Outcome::Restored { .. })
}

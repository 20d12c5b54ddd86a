//! The rules of the log of operations: what a transaction did, and how an undo changes the records
//! of other operations (docs/semantics.md, Operations).

use std::collections::{HashMap, HashSet};

use forklore_core::operation::{Operation, OperationId, Outcome};
use forklore_core::{Header, SessionId};
use jiff::Timestamp;

use super::redaction;
use crate::error::{Error, Result};
use crate::port::{Change, Deletion, NewOperation, Write, Written};

/// How many operations `gc` retains: the newest ones.
pub const RETAINED_OPERATIONS: usize = 10_000;

/// Derives the outcomes of a transaction from its writes, while a store executes them.
#[derive(Debug)]
pub struct Recording<'t> {
    operation: &'t NewOperation,
    outcomes: Outcomes,
    /// The session's header before the change that is being executed; `None` if that write has no
    /// outcome that depends on the header.
    former: Option<Box<Header>>,
}

impl<'t> Recording<'t> {
    /// Begins to record a transaction that belongs to `operation`. `header` returns the header of a
    /// session as it is before the transaction.
    ///
    /// # Errors
    /// `Stale` if the session of an expected outcome ([`NewOperation::expected`]) has changed
    /// since, and the errors of `header`.
    pub fn begin<E: From<Error>>(
        operation: &'t NewOperation,
        mut header: impl FnMut(&SessionId) -> Result<Header, E>,
    ) -> Result<Self, E> {
        for outcome in &operation.expected {
            let session = outcome.session();
            if let Some(obstacle) = outcome.changed_since(&header(session)?) {
                let message = format!("session {session} {obstacle}");
                return Err(Error::Stale { what: "what the operation did".into(), message }.into());
            }
        }
        Ok(Self { operation, outcomes: Outcomes::default(), former: None })
    }

    /// Prepares for a write. `header` returns the header of a session as it is before the write.
    ///
    /// # Errors
    /// The errors of `header`.
    pub fn before<E>(
        &mut self,
        write: &Write,
        header: impl FnOnce(&SessionId) -> Result<Header, E>,
    ) -> Result<(), E> {
        self.former = match write {
            Write::Change { session, change } if is_recorded(change) => {
                Some(Box::new(header(session)?))
            }
            _ => None,
        };
        Ok(())
    }

    /// Adds the outcomes of a write that the store has executed. `written` is the result of the
    /// write.
    pub fn after(&mut self, write: &Write, written: &Written) {
        match (write, written) {
            (Write::Create(_), Written::Created(header)) => {
                let (session_id, head_seq) = (header.id.clone(), header.head_seq());
                self.outcomes.add(Outcome::Created { session_id, head_seq });
            }
            (Write::Append { session, .. }, Written::Appended(appended)) if !appended.repeated => {
                self.outcomes.add(Outcome::Appended {
                    session_id: session.clone(),
                    events: appended.to_seq + 1 - appended.from_seq,
                    head_seq: appended.head_seq,
                });
            }
            (Write::Change { change, .. }, Written::Changed(changed)) => {
                let former = self.former.take();
                let outcome = former.and_then(|was| changed_to(change, *was, &changed.header));
                self.outcomes.extend(outcome);
            }
            (Write::Remove(removal), Written::Removed(removed)) => {
                let outcome = |session_id: &SessionId| match removal.deletion {
                    Deletion::Trash => Outcome::Deleted { session_id: session_id.clone() },
                    Deletion::Erase | Deletion::Expire(_) => {
                        Outcome::Erased { session_id: session_id.clone() }
                    }
                };
                if removal.deletion != Deletion::Trash {
                    self.outcomes.forget_names_of(&removed.deleted);
                }
                self.outcomes.extend(removed.deleted.iter().map(outcome));
            }
            (Write::Redact(write), Written::Redacted(done)) => {
                self.outcomes.forget_names_of(&done.titles);
                self.outcomes.extend(redaction::outcomes(write, done));
            }
            _ => {}
        }
    }

    /// Returns what the store must record; `None` if it must record nothing about this transaction.
    #[must_use]
    pub fn end(self) -> Option<Recorded<'t>> {
        let (operation, outcomes) = (self.operation, self.outcomes.into_vec());
        // Appends alone begin no operation.
        let begins = outcomes.iter().any(|one| !matches!(one, Outcome::Appended { .. }));
        let continues = operation.continues.is_some() && !outcomes.is_empty();
        (begins || continues).then_some(Recorded { operation, outcomes })
    }
}

/// What a store must record about a transaction.
#[derive(Debug)]
pub struct Recorded<'t> {
    /// The operation to which the transaction belongs.
    pub operation: &'t NewOperation,
    /// What the transaction did to each session, in order.
    pub outcomes: Vec<Outcome>,
}

impl Recorded<'_> {
    /// Returns the record of a new operation with this number. `now` is the store's time.
    #[must_use]
    pub fn into_operation(self, id: OperationId, now: Timestamp) -> Operation {
        let NewOperation { kind, program, principal, undoes, .. } = self.operation;
        Operation {
            id,
            kind: *kind,
            at: now,
            program: program.clone(),
            principal: principal.clone(),
            undoes: *undoes,
            undone_by: None,
            outcomes: self.outcomes,
        }
    }
}

fn is_recorded(change: &Change) -> bool {
    match change {
        Change::Label(_)
        | Change::Title(_)
        | Change::Leaf(_)
        | Change::Detach
        | Change::Undelete(_) => true,
        Change::CopyOf(_) | Change::Hold { .. } | Change::Release { .. } => false,
    }
}

/// Returns the outcome of a change; `None` if it changed nothing.
fn changed_to(change: &Change, former: Header, now: &Header) -> Option<Outcome> {
    let session_id = now.id.clone();
    match change {
        Change::Label(_) => (former.label != now.label).then(|| Outcome::Labelled {
            session_id,
            before: former.label,
            after: now.label.clone(),
        }),
        Change::Title(_) => (former.title != now.title).then(|| Outcome::Renamed {
            session_id,
            before: former.title,
            after: now.title.clone(),
        }),
        Change::Leaf(_) => (former.leaf != now.leaf).then(|| Outcome::Leaf {
            session_id,
            before: former.leaf,
            after: now.leaf.clone(),
        }),
        Change::Detach => {
            (!former.detached && now.detached).then_some(Outcome::Detached { session_id })
        }
        Change::Undelete(_) => former
            .deleted
            .is_some()
            .then(|| Outcome::Restored { session_id, head_seq: now.head_seq() }),
        Change::CopyOf(_) | Change::Hold { .. } | Change::Release { .. } => None,
    }
}

/// The outcomes of an operation, with related outcomes joined. The creation of a session and all
/// appends to it are one outcome. All changes of its label are one outcome, and so are all changes
/// of its title and all changes of its leaf. If the operation created the session, changes of its
/// label, title and leaf are left out.
#[derive(Debug, Default)]
pub struct Outcomes {
    all: Vec<Outcome>,
    /// The index in `all` of each outcome that a later outcome of the same kind and session joins.
    growing: HashMap<(What, SessionId), usize>,
}

/// The kind of an outcome. Outcomes of the same kind and of the same session are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum What {
    Events,
    Label,
    Title,
    Leaf,
}

fn what(outcome: &Outcome) -> Option<What> {
    match outcome {
        Outcome::Created { .. } | Outcome::Appended { .. } => Some(What::Events),
        Outcome::Labelled { .. } => Some(What::Label),
        Outcome::Renamed { .. } => Some(What::Title),
        Outcome::Leaf { .. } => Some(What::Leaf),
        _ => None,
    }
}

/// Checks whether the outcome is a change of the label, title or leaf. This includes a change whose
/// labels or titles were erased from the record.
fn is_of_header(outcome: &Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Labelled { .. }
            | Outcome::Renamed { .. }
            | Outcome::Leaf { .. }
            | Outcome::Forgotten { .. }
    )
}

impl Outcomes {
    /// Adds the next outcome, or joins it with an earlier outcome. Ignores a change of the label,
    /// title or leaf if the operation created the session.
    pub fn add(&mut self, outcome: Outcome) {
        let begun = (What::Events, outcome.session().clone());
        let begun = self.growing.get(&begun).and_then(|at| self.all.get(*at));
        if is_of_header(&outcome) && matches!(begun, Some(Outcome::Created { .. })) {
            return;
        }
        let Some(what) = what(&outcome) else { return self.all.push(outcome) };
        let key = (what, outcome.session().clone());
        let earlier = self.growing.get(&key).and_then(|at| self.all.get_mut(*at));
        let Some(outcome) = joined(earlier, outcome) else { return };
        self.growing.insert(key, self.all.len());
        self.all.push(outcome);
    }

    /// Returns the outcomes, in order.
    #[must_use]
    pub fn into_vec(self) -> Vec<Outcome> {
        self.all
    }

    fn forget_names_of(&mut self, erased: &[SessionId]) {
        let erased: HashSet<_> = erased.iter().collect();
        for outcome in self.all.iter_mut().filter(|one| erased.contains(one.session())) {
            outcome.forget();
        }
    }
}

/// Joins `outcome` with an earlier outcome of the same session. Returns `outcome` if there is no
/// earlier outcome, or if the two cannot be joined.
fn joined(earlier: Option<&mut Outcome>, outcome: Outcome) -> Option<Outcome> {
    match (earlier, outcome) {
        (Some(Outcome::Created { head_seq, .. }), Outcome::Appended { head_seq: head, .. }) => {
            *head_seq = head;
        }
        (
            Some(Outcome::Appended { events, head_seq, .. }),
            Outcome::Appended { events: more, head_seq: head, .. },
        ) => {
            *events += more;
            *head_seq = head;
        }
        (Some(Outcome::Labelled { after, .. }), Outcome::Labelled { after: now, .. }) => {
            *after = now;
        }
        (Some(Outcome::Renamed { after, .. }), Outcome::Renamed { after: now, .. }) => *after = now,
        (Some(Outcome::Leaf { after, .. }), Outcome::Leaf { after: now, .. }) => *after = now,
        (_, outcome) => return Some(outcome),
    }
    None
}

impl Extend<Outcome> for Outcomes {
    fn extend<I: IntoIterator<Item = Outcome>>(&mut self, more: I) {
        more.into_iter().for_each(|outcome| self.add(outcome));
    }
}

/// Marks the operation `undone` as undone by the new operation `by`. `change` applies a function to
/// the record of an operation, and returns whether the store has that record. If `undone` is itself
/// an undo, the operation that it undid is in effect again and is marked so.
///
/// # Errors
/// `Stale` if `undone` was undone already or is not recorded any more, and the errors of `change`.
pub fn mark_undone<E: From<Error>>(
    undone: OperationId,
    by: OperationId,
    mut change: impl FnMut(OperationId, &mut dyn FnMut(&mut Operation)) -> Result<bool, E>,
) -> Result<(), E> {
    let (mut earlier, mut already) = (None, None);
    let is_there = change(undone, &mut |operation| {
        earlier = operation.undoes;
        already = operation.undone_by;
        operation.undone_by = already.or(Some(by));
    })?;
    let what = "the operation";
    if !is_there {
        let message = format!("operation {undone} is not recorded any more");
        return Err(Error::Stale { what: what.into(), message }.into());
    }
    if let Some(already) = already {
        let message = format!("operation {already} has undone it");
        return Err(Error::Stale { what: what.into(), message }.into());
    }
    // In a chain of undos, every second operation is in effect.
    let (mut in_effect, mut undoer) = (true, undone);
    while let Some(id) = earlier.take() {
        let by = (!in_effect).then_some(undoer);
        change(id, &mut |operation| {
            earlier = operation.undoes;
            operation.undone_by = by;
        })?;
        (in_effect, undoer) = (!in_effect, id);
    }
    Ok(())
}

//! Transactions: lists of writes that a store executes atomically.

use forklore_core::{AttachmentId, Header, SessionId};
use jiff::Timestamp;

use super::write::{Append, Appended, Change, Changed, Children, NewSession, Removed};
use crate::error::{Error, Result};
use crate::sources::{SourceId, SourceStep};

/// Writes that belong together, to sessions of one or more families. A store executes all or none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transaction {
    /// The writes, in order; each sees the writes before it.
    pub writes: Vec<Write>,
    /// The file that the writes were read from, if they are a step of an import. Sessions that the
    /// writes create become the next sessions of this source, and events that they append to its
    /// sessions come from it.
    pub source: Option<Box<SourceStep>>,
    /// Attachments that must exist in the store, because the writes name them.
    pub attachments: Vec<AttachmentId>,
}

/// One write of a [`Transaction`], with its expectations.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Creates a session with its first events. It becomes visible last, complete with all of them
    /// (docs/semantics.md, Fork).
    ///
    /// Rejected with `IdTaken`, `LabelTaken`, `NotFound` or `Deleted` (the parent), `Invalid` (a
    /// cut after the parent's end, a child without its `session_fork`, a kind that does not match
    /// `from`), `MissingAncestor`.
    Create(Box<NewSession>),
    /// Appends events after the head, all or none. A repetition of an earlier append writes
    /// nothing, so it needs no lease (docs/semantics.md, Writing).
    ///
    /// Rejected with `NotFound`, `Deleted`, `Invalid` (no events), `Held`, `LeaseLost`, `Conflict`
    /// with the actual head.
    Append {
        /// The session.
        session: SessionId,
        /// The events, and the expectations of their writer.
        append: Append,
    },
    /// Changes something about a session that is not its log.
    ///
    /// Rejected with `NotFound`, `Deleted`, `LabelTaken`, `Held`, `LeaseLost`, `MissingAncestor`.
    Change {
        /// The session.
        session: SessionId,
        /// The change.
        change: Change,
    },
    /// Deletes sessions. What other sessions need of them stays as a nameless segment; each leaves
    /// a tombstone (docs/semantics.md, Delete, detach). Sessions that are already deleted are
    /// skipped.
    ///
    /// Rejected with `HasChildren` unless `children` is [`Children::Retain`], `Held` if one of the
    /// sessions is leased, `NotFound`.
    Remove(Removal),
}

/// Sessions to delete together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// The sessions.
    pub sessions: Vec<SessionId>,
    /// How to treat branch children that are not among them.
    pub children: Children,
    /// The time of the delete by the caller's clock, capped at the store's time.
    pub now: Timestamp,
}

/// The result of a transaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Committed {
    /// The result of each write, in order.
    pub written: Vec<Written>,
    /// The source, if the transaction was a step of an import.
    pub source: Option<SourceId>,
}

/// The result of one [`Write`].
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// The header of the created session.
    Created(Box<Header>),
    /// The log positions of the events.
    Appended(Appended),
    /// The changed header.
    Changed(Box<Changed>),
    /// The deleted sessions.
    Removed(Removed),
}

impl From<Write> for Transaction {
    fn from(write: Write) -> Self {
        Self { writes: vec![write], ..Self::default() }
    }
}

impl From<Vec<Write>> for Transaction {
    fn from(writes: Vec<Write>) -> Self {
        Self { writes, ..Self::default() }
    }
}

impl From<Written> for Committed {
    fn from(written: Written) -> Self {
        Self { written: vec![written], source: None }
    }
}

impl Committed {
    /// Returns the session that the last write created.
    ///
    /// # Errors
    /// `Io` if the last write was of another kind.
    pub fn created(mut self) -> Result<Header> {
        match self.written.pop() {
            Some(Written::Created(header)) => Ok(*header),
            other => Err(other_answer(other.as_ref())),
        }
    }

    /// Returns the result of the last write, an append.
    ///
    /// # Errors
    /// `Io` if the last write was of another kind.
    pub fn appended(mut self) -> Result<Appended> {
        match self.written.pop() {
            Some(Written::Appended(appended)) => Ok(appended),
            other => Err(other_answer(other.as_ref())),
        }
    }

    /// Returns the result of the last write, a change.
    ///
    /// # Errors
    /// `Io` if the last write was of another kind.
    pub fn changed(mut self) -> Result<Changed> {
        match self.written.pop() {
            Some(Written::Changed(changed)) => Ok(*changed),
            other => Err(other_answer(other.as_ref())),
        }
    }

    /// Returns the result of the last write, a delete.
    ///
    /// # Errors
    /// `Io` if the last write was of another kind.
    pub fn removed(mut self) -> Result<Removed> {
        match self.written.pop() {
            Some(Written::Removed(removed)) => Ok(removed),
            other => Err(other_answer(other.as_ref())),
        }
    }

    /// Returns the source that the transaction was a step of.
    ///
    /// # Errors
    /// `Io` if it was not a step of an import.
    pub fn imported(self) -> Result<SourceId> {
        self.source.ok_or_else(|| other_answer(None))
    }
}

fn other_answer(written: Option<&Written>) -> Error {
    let what = match written {
        Some(Written::Created(_)) => "a session that was made",
        Some(Written::Appended(_)) => "an append",
        Some(Written::Changed(_)) => "a change",
        Some(Written::Removed(_)) => "a removal",
        None => "nothing",
    };
    Error::io("committing to the store", format!("it answered with {what}"))
}

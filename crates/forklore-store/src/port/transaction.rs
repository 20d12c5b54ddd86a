//! A list of writes that a store takes in one step.

use forklore_core::{AttachmentId, Header, SessionId};
use jiff::Timestamp;

use super::write::{Append, Appended, Change, Changed, Children, NewSession, Removed};
use crate::error::{Error, Result};
use crate::sources::{SourceId, SourceStep};

/// Writes that belong together, to sessions of one family or several: all of them, or none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transaction {
    /// The writes, in order; each sees those before it.
    pub writes: Vec<Write>,
    /// The file that the writes were read from, where they are a step of an import. Sessions that
    /// the writes create are the next ones of this source, and events that they append to its
    /// sessions came from it.
    pub source: Option<Box<SourceStep>>,
    /// Attachments that must be in the store, because the writes name them.
    pub attachments: Vec<AttachmentId>,
}

/// One write of a [`Transaction`], with what it expects.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Makes a session with its first events; it becomes visible whole and last (SPEC 6.5).
    ///
    /// Refused with `IdTaken`, `LabelTaken`, `NotFound` or `Deleted` (the parent), `Invalid` (a cut
    /// that the parent does not reach, a child without its `session_fork`, a kind that does not go
    /// with its beginning), `MissingAncestor`.
    Create(Box<NewSession>),
    /// Adds events after the head, all or none. A repetition of an earlier append writes nothing,
    /// so it needs no lease (SPEC 9).
    ///
    /// Refused with `NotFound`, `Deleted`, `Invalid` (no events), `Held`, `LeaseLost`, `Conflict`
    /// with the real head.
    Append {
        /// The session.
        session: SessionId,
        /// The events, and what their writer expects.
        append: Append,
    },
    /// Changes something about a session that is not its log.
    ///
    /// Refused with `NotFound`, `Deleted`, `LabelTaken`, `Held`, `LeaseLost`, `MissingAncestor`.
    Change {
        /// The session.
        session: SessionId,
        /// The change.
        change: Change,
    },
    /// Deletes sessions. What any other session needs stays as a nameless segment; of each a
    /// tombstone stays (SPEC 10). A session already deleted is passed over.
    ///
    /// Refused with `HasChildren` unless `children` is [`Children::Keep`], `Held` where one of the
    /// sessions is held, `NotFound`.
    Remove(Removal),
}

/// Sessions to be deleted together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// The sessions.
    pub sessions: Vec<SessionId>,
    /// What happens about branch children that are not among them.
    pub children: Children,
    /// When they are deleted, as the caller says; the store's own time where that is earlier.
    pub now: Timestamp,
}

/// What a transaction came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Committed {
    /// What each write came to, in order.
    pub written: Vec<Written>,
    /// The source, where the transaction was a step of an import.
    pub source: Option<SourceId>,
}

/// What one [`Write`] came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// The session that was made.
    Created(Box<Header>),
    /// Where the events stand.
    Appended(Appended),
    /// The header now.
    Changed(Box<Changed>),
    /// What was deleted.
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
    /// The session that the last write made.
    ///
    /// # Errors
    /// `Io` where the last write was another one.
    pub fn created(mut self) -> Result<Header> {
        match self.written.pop() {
            Some(Written::Created(header)) => Ok(*header),
            other => Err(other_answer(other.as_ref())),
        }
    }

    /// What the last write appended.
    ///
    /// # Errors
    /// `Io` where the last write was another one.
    pub fn appended(mut self) -> Result<Appended> {
        match self.written.pop() {
            Some(Written::Appended(appended)) => Ok(appended),
            other => Err(other_answer(other.as_ref())),
        }
    }

    /// What the last write changed.
    ///
    /// # Errors
    /// `Io` where the last write was another one.
    pub fn changed(mut self) -> Result<Changed> {
        match self.written.pop() {
            Some(Written::Changed(changed)) => Ok(*changed),
            other => Err(other_answer(other.as_ref())),
        }
    }

    /// What the last write deleted.
    ///
    /// # Errors
    /// `Io` where the last write was another one.
    pub fn removed(mut self) -> Result<Removed> {
        match self.written.pop() {
            Some(Written::Removed(removed)) => Ok(removed),
            other => Err(other_answer(other.as_ref())),
        }
    }

    /// The source that the transaction was a step of.
    ///
    /// # Errors
    /// `Io` where it was none.
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

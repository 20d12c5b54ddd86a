//! Transactions: lists of writes that a store executes atomically.

use forklore_core::operation::OperationId;
use forklore_core::{AttachmentId, Header, SessionId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::operation::NewOperation;
use super::redaction::{Redacted, Redactions};
use super::write::{Append, Appended, Change, Changed, Children, NewSession, Removed};
use crate::error::{Error, Result};
use crate::sources::{SourceId, SourceStep};

/// Writes to one or more sessions, which may have different roots. A store executes all of them or
/// none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transaction {
    /// The writes, in order. Each write sees the effects of the writes before it.
    pub writes: Vec<Write>,
    /// The import step to which the writes belong, if they come from an imported file. Sessions
    /// that the writes create are added to the sessions of the step's source (the imported file).
    /// Events that the writes append to sessions of this source count as read from the file.
    pub source: Option<Box<SourceStep>>,
    /// The attachments that events of the writes name. They must exist in the store.
    pub attachments: Vec<AttachmentId>,
    /// The operation to record with the writes. `None` records nothing.
    pub operation: Option<Box<NewOperation>>,
}

/// One write of a [`Transaction`], with the state that its writer expects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Write {
    /// Creates a session with its first events. The session becomes visible only when all of these
    /// events are written (docs/semantics.md, Fork).
    ///
    /// Rejected with `IdInUse` if a session, even a deleted one, has the id; `LabelInUse` if
    /// another session with the same root has the label; `NotFound` or `Deleted` if the parent does
    /// not exist or was deleted; `Invalid` for a cut after the parent's end, a child without a
    /// `session_fork` (the event that records its fork), or a kind that does not match `from` (the
    /// parent and the cut); `MissingAncestor` if the store no longer has events that the child
    /// would inherit.
    Create(Box<NewSession>),
    /// Appends all the events after the session's head, or none. A repetition of an earlier append
    /// writes nothing, so it needs no lease (docs/semantics.md, Writing).
    ///
    /// Rejected with `NotFound` if no session has the id; `Deleted` if the session was deleted;
    /// `Invalid` if there are no events; `Leased` if a runtime has the lease and the writer names
    /// no owner; `LeaseLost` if the writer names an owner that does not have the lease; `Conflict`,
    /// with the actual head, if the head is not the expected one.
    Append {
        /// The id of the session.
        session: SessionId,
        /// The events, and the state that their writer expects.
        append: Append,
    },
    /// Changes a session's header or storage, but not its log.
    ///
    /// Rejected with `NotFound` if no session has the id; `Deleted` if the session was deleted (for
    /// [`Change::Undelete`], only if it was erased); `LabelInUse` if another session with the same
    /// root has the new label; `Leased` if another
    /// runtime has the lease to acquire; `LeaseLost` if the caller does not have the lease to
    /// release; `MissingAncestor` if the store no longer has inherited events that a detach must
    /// copy into the session.
    Change {
        /// The id of the session.
        session: SessionId,
        /// The change to make in the session's header or storage.
        change: Change,
    },
    /// Deletes sessions (docs/semantics.md, Delete, detach). [`Deletion`] says whether they go into
    /// the trash, from which [`Change::Undelete`] brings them back, or are erased. An erased
    /// session leaves a tombstone. Events that other sessions still need remain stored, without a
    /// session. Sessions in the trash need their history as living ones do. A session is skipped if
    /// nothing more of it can be deleted.
    ///
    /// Rejected with `HasChildren` if branch children remain and `children` is
    /// [`Children::Refuse`]; `Leased` if one of the sessions is leased; `NotFound` if one of the
    /// ids has no session.
    Remove(Removal),
    /// Takes the content of events away (docs/semantics.md, Redaction). Replaces the payload of each
    /// event in the segment of its writer, and in every copy of the event in the family, also in
    /// those of deleted sessions. The effect, counts and all other fields stay. An event that was
    /// redacted before stays as it is, and one that the store no longer has is left out. Removes
    /// titles, and erases the stored bytes of sources. The feed reports each session whose own
    /// events, copies or title changed as created, so that readers read it again.
    ///
    /// Rejected with `NotFound` if the writer of an event has no header; `Leased` if the writer is
    /// leased; `Stale` if an event has another id.
    Redact(Box<Redactions>),
}

/// A set of sessions to delete together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removal {
    /// The ids of the sessions to delete.
    pub sessions: Vec<SessionId>,
    /// How to treat branch children that are not deleted together with their parent.
    pub children: Children,
    /// What becomes of the sessions.
    pub deletion: Deletion,
    /// The time of the delete by the caller's clock. The store records its own time if that is
    /// earlier.
    pub now: Timestamp,
}

/// What becomes of deleted sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deletion {
    /// Living sessions go into the trash. The store retains all of their data except the leases,
    /// but answers nothing from it. Their labels become free.
    Trash,
    /// Sessions are erased, whether they are living or in the trash.
    Erase,
    /// Sessions that have been in the trash since this time or longer, by the store's clock, are
    /// erased. All others are skipped.
    Expire(Timestamp),
}

/// The results of a transaction, which [`crate::Store::commit`] returns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Committed {
    /// The result of each write, in the order of the writes.
    pub written: Vec<Written>,
    /// The id of the source, if the transaction was a step of an import.
    pub source: Option<SourceId>,
    /// The number of the operation that was recorded or continued.
    pub operation: Option<OperationId>,
}

/// The result of one [`Write`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Written {
    /// The header of the created session.
    Created(Box<Header>),
    /// The log positions of the appended events.
    Appended(Appended),
    /// The header after the change.
    Changed(Box<Changed>),
    /// The deleted sessions, and the number of them whose stored events remain.
    Removed(Removed),
    /// The events and titles that were redacted.
    Redacted(Redacted),
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
        Self { written: vec![written], ..Self::default() }
    }
}

impl Committed {
    /// Returns the header of the session that the last write created.
    ///
    /// # Errors
    /// `Io` if the last write was not a [`Write::Create`].
    pub fn created(mut self) -> Result<Header> {
        match self.written.pop() {
            Some(Written::Created(header)) => Ok(*header),
            other => Err(other_answer(other.as_ref())),
        }
    }

    /// Returns the result of the last write, which must be an append.
    ///
    /// # Errors
    /// `Io` if the last write was not a [`Write::Append`].
    pub fn appended(mut self) -> Result<Appended> {
        match self.written.pop() {
            Some(Written::Appended(appended)) => Ok(appended),
            other => Err(other_answer(other.as_ref())),
        }
    }

    /// Returns the result of the last write, which must be a change.
    ///
    /// # Errors
    /// `Io` if the last write was not a [`Write::Change`].
    pub fn changed(mut self) -> Result<Changed> {
        match self.written.pop() {
            Some(Written::Changed(changed)) => Ok(*changed),
            other => Err(other_answer(other.as_ref())),
        }
    }

    /// Returns the result of the last write, which must be a delete.
    ///
    /// # Errors
    /// `Io` if the last write was not a [`Write::Remove`].
    pub fn removed(mut self) -> Result<Removed> {
        match self.written.pop() {
            Some(Written::Removed(removed)) => Ok(removed),
            other => Err(other_answer(other.as_ref())),
        }
    }

    /// Returns the result of the last write, which must be a redaction.
    ///
    /// # Errors
    /// `Io` if the last write was not a [`Write::Redact`].
    pub fn redacted(mut self) -> Result<Redacted> {
        match self.written.pop() {
            Some(Written::Redacted(redacted)) => Ok(redacted),
            other => Err(other_answer(other.as_ref())),
        }
    }

    /// Returns the id of the source that the transaction, a step of an import, wrote to.
    ///
    /// # Errors
    /// `Io` if the transaction was not a step of an import.
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
        Some(Written::Redacted(_)) => "a redaction",
        None => "nothing",
    };
    Error::io("committing to the store", format!("it answered with {what}"))
}

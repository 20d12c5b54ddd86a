//! The error type of stores.

use std::borrow::Cow;

use forklore_core::report::Problem;
use forklore_core::{ErrorKind, Label, SessionId};
use serde_json::{Value, json};

use crate::lease_owner::readable;
use crate::port::Mark;

/// The result of a call to a store.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a call to a store. The call wrote nothing, except possibly with
/// [`Error::Poisoned`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No session has this id.
    #[error("session {0} does not exist")]
    NotFound(SessionId),
    /// The session was deleted. Its id remains reserved.
    #[error("session {0} was deleted")]
    Deleted(SessionId),
    /// A session, which may be deleted, already has this id or an id that differs from it only in
    /// case.
    #[error("session {0} already exists")]
    IdInUse(SessionId),
    /// Another session with the same root has this label.
    #[error("the label {label} is taken in this family by session {by}")]
    LabelInUse {
        /// The label that is in use.
        label: Label,
        /// The session that has the label.
        by: SessionId,
    },
    /// The session's head (the seq of its last event) is not the one that the caller expected.
    #[error("session {session} is at seq {head}, not {expected}: somebody wrote to it")]
    Conflict {
        /// The id of the session whose head is not the expected one.
        session: SessionId,
        /// The head that the caller expected; -1 for an empty log.
        expected: i64,
        /// The actual head of the session; -1 for an empty log.
        head: i64,
    },
    /// Something that the caller had read has changed since. If the head of a session has changed,
    /// the error is [`Error::Conflict`] instead.
    #[error("{what} changed meanwhile: {message}")]
    Stale {
        /// What has changed, as a noun phrase for people, such as `the source` (an imported file).
        what: Cow<'static, str>,
        /// The current state of what has changed, as text for people.
        message: String,
    },
    /// The mark comes from the feed of another store, or is not a mark. A mark is a reader's
    /// position in a feed (the sequence of changed sessions).
    #[error("the mark {0} is not of this store's feed; read the feed from its beginning")]
    ForeignMark(Mark),
    /// The feed (the sequence of changed sessions) does not cover the mark, which is a reader's
    /// position. The feed no longer has the changes after the mark, or the store was restored to a
    /// state before the mark.
    #[error("the mark {mark} has expired: {message}; read the feed from its beginning")]
    MarkExpired {
        /// The mark that the caller passed.
        mark: Mark,
        /// Why the feed does not cover the mark, as text for people.
        message: String,
    },
    /// The store was deleted or replaced by another one while it was open.
    #[error("the store {location} is gone")]
    StoreGone {
        /// The path at which the store was opened.
        location: String,
    },
    /// Another runtime has the lease of the session.
    #[error("session {session} is running, held by {}", readable(owner))]
    Leased {
        /// The id of the session that is leased.
        session: SessionId,
        /// The name of the runtime that has the lease.
        owner: String,
    },
    /// The caller's lease has expired or was released, or another runtime has it.
    #[error("{} no longer holds session {session}", readable(owner))]
    LeaseLost {
        /// The id of the session whose lease the caller does not have.
        session: SessionId,
        /// The name of the runtime that made the call.
        owner: String,
    },
    /// Another process locked the store for longer than this call waits.
    #[error("the store is busy: {0}")]
    Locked(String),
    /// A delete was refused, because branch children (forks) of the session would remain.
    #[error("session {session} has {} on it", forks_that_build(*count))]
    HasChildren {
        /// The id of the session that was not deleted.
        session: SessionId,
        /// The ids of the branch children that would remain after the delete, at most 20 of them.
        children: Vec<SessionId>,
        /// The number of all branch children that would remain after the delete.
        count: usize,
    },
    /// The arguments of the call are invalid, whichever kind of store executes it. An example is a
    /// cut after the end of the parent's log.
    #[error("{0}")]
    Invalid(String),
    /// The operating system forbids the operation, the store was opened for reading only, or its
    /// files belong to another user or are writable by all.
    #[error("{0}")]
    Denied(String),
    /// The store has an unsupported kind or version, or is on a file system that is not safe for
    /// it, or lacks an optional capability.
    #[error("{0}")]
    Unsupported(String),
    /// An older version of forklore wrote the store, and only its owner may bring it up to date.
    #[error(
        "an older version of forklore wrote this store (version {found}, and this one needs \
         {needed}); its owner brings it up to date"
    )]
    Outdated {
        /// The version of the store.
        found: u64,
        /// The version that this program needs.
        needed: u64,
    },
    /// There is something where a new store or a backup was to be written.
    #[error("there is something at {location}; nothing is ever overwritten")]
    Occupied {
        /// The path at which there is something.
        location: String,
    },
    /// Stored bytes are damaged.
    #[error("{location} is damaged: {message}")]
    Corrupt {
        /// The session that the damaged bytes belong to, if it can be determined.
        session: Option<SessionId>,
        /// The log position of the event that the damaged bytes belong to, if it can be determined.
        seq: Option<u64>,
        /// The location of the damaged bytes, as text for people.
        location: String,
        /// A description of the damage.
        message: String,
    },
    /// The store has nothing of a session any more, not even its header, although a record of its
    /// id shows that it existed.
    #[error("session {session} is lost: {location} is gone")]
    Lost {
        /// The id of the lost session.
        session: SessionId,
        /// The location at which the session was stored, as text for people.
        location: String,
    },
    /// The store no longer has events that a session's history refers to.
    #[error("session {session} has lost a part of its history: {missing}")]
    MissingAncestor {
        /// The id of the session whose history refers to the missing events.
        session: SessionId,
        /// A description of the missing events, as text for people.
        missing: String,
    },
    /// A sync of the disk failed, so it is unknown which data the disk stored. The handle accepts
    /// no more writes, because a later sync may succeed without having written that data. Reads
    /// still work.
    #[error(
        "nothing more is written to {location} through this handle, because the disk failed to make \
         something durable: {failure}"
    )]
    Poisoned {
        /// The path of the store, or of its folder of attachments if the sync of that failed.
        location: String,
        /// A description of the failed sync.
        failure: String,
    },
    /// A read or a write failed.
    #[error("{doing}: {source}")]
    Io {
        /// The operation that failed, as text for people, such as `opening /path/of/store`.
        doing: String,
        /// The error that caused the failure.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// Returns the error kind that scripts test for.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotFound(_) | Self::Deleted(_) | Self::StoreGone { .. } => ErrorKind::NotFound,
            Self::IdInUse(_) | Self::LabelInUse { .. } | Self::Occupied { .. } => {
                ErrorKind::AlreadyExists
            }
            Self::Conflict { .. }
            | Self::Stale { .. }
            | Self::MarkExpired { .. }
            | Self::LeaseLost { .. } => ErrorKind::Conflict,
            Self::Leased { .. } | Self::Locked(_) => ErrorKind::Busy,
            Self::HasChildren { .. } => ErrorKind::HasChildren,
            Self::Invalid(_) | Self::ForeignMark(_) => ErrorKind::InvalidArgs,
            Self::Denied(_) => ErrorKind::PermissionDenied,
            Self::Unsupported(_) | Self::Outdated { .. } => ErrorKind::Unsupported,
            Self::Corrupt { .. } | Self::Lost { .. } => ErrorKind::Corrupt,
            Self::MissingAncestor { .. } => ErrorKind::MissingAncestor,
            Self::Poisoned { .. } | Self::Io { .. } => ErrorKind::Internal,
        }
    }

    /// Checks whether the error concerns the whole store, and not only the sessions or the import
    /// step of the call. If it does, another call would probably fail with the same error.
    #[must_use]
    pub fn is_of_store(&self) -> bool {
        matches!(
            self,
            Self::Locked(_)
                | Self::Denied(_)
                | Self::Unsupported(_)
                | Self::Outdated { .. }
                | Self::Poisoned { .. }
                | Self::StoreGone { .. }
                | Self::Io { .. }
                | Self::Corrupt { session: None, .. }
        )
    }

    /// Returns the details of the error for scripts, as a JSON object. The object is empty if the
    /// error has no details.
    #[must_use]
    pub fn details(&self) -> Value {
        match self {
            Self::NotFound(id) | Self::Deleted(id) | Self::IdInUse(id) => json!({"session_id": id}),
            Self::LabelInUse { label, by } => json!({"label": label, "session_id": by}),
            Self::Conflict { session, expected, head } => {
                json!({"session_id": session, "expected": expected, "head_seq": head})
            }
            Self::Leased { session, owner } | Self::LeaseLost { session, owner } => {
                json!({"session_id": session, "owner": readable(owner)})
            }
            Self::HasChildren { session, children, count } => {
                json!({"session_id": session, "children": children, "count": count})
            }
            Self::Corrupt { session, seq, location: position, .. } => {
                json!({"session_id": session, "seq": seq, "place": position})
            }
            Self::Lost { session, location: position } => {
                json!({"session_id": session, "seq": null, "place": position})
            }
            Self::MissingAncestor { session, missing } => {
                json!({"session_id": session, "missing": missing})
            }
            Self::Outdated { found, needed } => json!({"version": found, "needed": needed}),
            Self::Stale { what, .. } => json!({"what": what}),
            Self::ForeignMark(mark) | Self::MarkExpired { mark, .. } => json!({"mark": mark}),
            Self::StoreGone { location: position } | Self::Occupied { location: position } => {
                json!({"place": position})
            }
            Self::Poisoned { location: position, .. } => json!({"place": position}),
            _ => json!({}),
        }
    }

    /// Converts the error to a [`Problem`]. The problem gets the session and the log position that
    /// the error names. If the error names no session, the problem gets `session`.
    #[must_use]
    pub fn problem(&self, session: Option<&SessionId>) -> Problem {
        let (named, seq) = match self {
            Self::Corrupt { session, seq, .. } => (session.as_ref(), *seq),
            Self::Lost { session, .. } | Self::MissingAncestor { session, .. } => {
                (Some(session), None)
            }
            _ => (None, None),
        };
        let session_id = named.or(session).cloned();
        Problem { session_id, seq, attachment: None, kind: self.kind(), message: self.to_string() }
    }

    /// Returns an [`Error::Invalid`] for an attachment of more than `limit` bytes.
    #[must_use]
    pub fn too_long(limit: u64) -> Self {
        Self::Invalid(format!("it is too long: an attachment has at most {limit} bytes"))
    }

    /// Returns an [`Error::Io`] for the failed operation `doing`.
    pub fn io(
        doing: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Io { doing: doing.into(), source: source.into() }
    }
}

/// Returns the number of forks with its noun and verb: `1 fork that builds`, `2 forks that build`.
fn forks_that_build(count: usize) -> String {
    match count {
        1 => "1 fork that builds".to_owned(),
        _ => format!("{count} forks that build"),
    }
}

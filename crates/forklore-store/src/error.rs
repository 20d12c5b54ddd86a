//! The errors of stores.

use forklore_core::report::Problem;
use forklore_core::{ErrorKind, Label, SessionId};
use serde_json::{Value, json};

use crate::port::Mark;

/// The result of a call to a store.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a store did not execute a call. Nothing was written, except possibly with
/// [`Error::Poisoned`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No session has this id.
    #[error("session {0} does not exist")]
    NotFound(SessionId),
    /// The session was deleted; its id stays reserved.
    #[error("session {0} was deleted")]
    Deleted(SessionId),
    /// The id, or one that differs from it only in case, is or was in use.
    #[error("session {0} already exists")]
    IdInUse(SessionId),
    /// Another session of the family has this label.
    #[error("the label {label} is taken in this family by session {by}")]
    LabelInUse {
        /// The label.
        label: Label,
        /// The session that has the label.
        by: SessionId,
    },
    /// The session's head is not the expected one.
    #[error("session {session} is at seq {head}, not {expected}: somebody wrote to it")]
    Conflict {
        /// The session.
        session: SessionId,
        /// The head that the caller expected.
        expected: i64,
        /// The actual head.
        head: i64,
    },
    /// Something other than the head changed since the caller read it.
    #[error("{what} changed meanwhile: {message}")]
    Stale {
        /// What changed, like `the source`.
        what: &'static str,
        /// The current state, in words.
        message: String,
    },
    /// The mark is from the feed of another store, or is not a mark.
    #[error("the mark {0} is not of this store's feed; read the feed from its beginning")]
    ForeignMark(Mark),
    /// The feed does not cover the mark: it no longer reaches back to it, or does not reach it yet.
    #[error("the mark {mark} has expired: {message}; read the feed from its beginning")]
    MarkExpired {
        /// The mark.
        mark: Mark,
        /// What happened to the feed, in words.
        message: String,
    },
    /// The store was deleted or replaced by another one while it was open.
    #[error("the store {location} is gone")]
    StoreGone {
        /// The path of the store.
        location: String,
    },
    /// Another runtime has the lease of the session.
    #[error("session {session} is running, held by {owner}")]
    Leased {
        /// The session.
        session: SessionId,
        /// The owner of the lease.
        owner: String,
    },
    /// The caller's lease has expired or was released, or another runtime has it.
    #[error("{owner} no longer holds session {session}")]
    LeaseLost {
        /// The session.
        session: SessionId,
        /// The caller.
        owner: String,
    },
    /// Another process locked the store for too long.
    #[error("the store is busy: {0}")]
    Locked(String),
    /// The session has branch children that are not to be deleted too.
    #[error("session {session} has {count} branch children that build on it")]
    HasChildren {
        /// The session.
        session: SessionId,
        /// The first 20 of these children.
        children: Vec<SessionId>,
        /// The number of these children.
        count: usize,
    },
    /// The call is invalid for any store, such as a cut after the parent's end.
    #[error("{0}")]
    Invalid(String),
    /// The operating system or the ownership of the store forbids it.
    #[error("{0}")]
    Denied(String),
    /// The store has another kind or version, or is in a location that is not safe for it.
    #[error("{0}")]
    Unsupported(String),
    /// Stored bytes are damaged.
    #[error("{location} is damaged: {message}")]
    Corrupt {
        /// The session that they belong to, if known.
        session: Option<SessionId>,
        /// The log position of the event that they belong to, if known.
        seq: Option<u64>,
        /// The location of the bytes.
        location: String,
        /// What is wrong with them.
        message: String,
    },
    /// A session's history lacks events that its spans refer to.
    #[error("session {session} has lost a part of its history: {missing}")]
    MissingAncestor {
        /// The session.
        session: SessionId,
        /// What is missing.
        missing: String,
    },
    /// The disk failed to make something durable, so it is unknown what it stored. A later sync may
    /// succeed without having written it. Reads still work.
    #[error(
        "nothing more is written to {location} through this handle, because the disk failed to make \
         something durable: {failure}"
    )]
    Poisoned {
        /// The store.
        location: String,
        /// How the sync failed.
        failure: String,
    },
    /// Reading or writing failed.
    #[error("{doing}: {source}")]
    Io {
        /// The operation and its object.
        doing: String,
        /// Why it failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// Returns the kind that scripts see.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotFound(_) | Self::Deleted(_) | Self::StoreGone { .. } => ErrorKind::NotFound,
            Self::IdInUse(_) | Self::LabelInUse { .. } => ErrorKind::AlreadyExists,
            Self::Conflict { .. }
            | Self::Stale { .. }
            | Self::MarkExpired { .. }
            | Self::LeaseLost { .. } => ErrorKind::Conflict,
            Self::Leased { .. } | Self::Locked(_) => ErrorKind::Busy,
            Self::HasChildren { .. } => ErrorKind::HasChildren,
            Self::Invalid(_) | Self::ForeignMark(_) => ErrorKind::InvalidArgs,
            Self::Denied(_) => ErrorKind::PermissionDenied,
            Self::Unsupported(_) => ErrorKind::Unsupported,
            Self::Corrupt { .. } => ErrorKind::Corrupt,
            Self::MissingAncestor { .. } => ErrorKind::MissingAncestor,
            Self::Poisoned { .. } | Self::Io { .. } => ErrorKind::Internal,
        }
    }

    /// Returns the facts that a script may need in addition to the kind, as a JSON object.
    #[must_use]
    pub fn details(&self) -> Value {
        match self {
            Self::NotFound(id) | Self::Deleted(id) | Self::IdInUse(id) => json!({"session_id": id}),
            Self::LabelInUse { label, by } => json!({"label": label, "session_id": by}),
            Self::Conflict { session, expected, head } => {
                json!({"session_id": session, "expected": expected, "head_seq": head})
            }
            Self::Leased { session, owner } | Self::LeaseLost { session, owner } => {
                json!({"session_id": session, "owner": owner})
            }
            Self::HasChildren { session, children, count } => {
                json!({"session_id": session, "children": children, "count": count})
            }
            Self::Corrupt { session, seq, location: position, .. } => {
                json!({"session_id": session, "seq": seq, "place": position})
            }
            Self::MissingAncestor { session, missing } => {
                json!({"session_id": session, "missing": missing})
            }
            Self::Stale { what, .. } => json!({"what": what}),
            Self::ForeignMark(mark) | Self::MarkExpired { mark, .. } => json!({"mark": mark}),
            Self::StoreGone { location: position } => json!({"place": position}),
            Self::Poisoned { location: position, .. } => json!({"place": position}),
            _ => json!({}),
        }
    }

    /// Converts the error to a [`Problem`], with the position that the error names, or else with
    /// `session`.
    #[must_use]
    pub fn problem(&self, session: Option<&SessionId>) -> Problem {
        let (named, seq) = match self {
            Self::Corrupt { session, seq, .. } => (session.as_ref(), *seq),
            Self::MissingAncestor { session, .. } => (Some(session), None),
            _ => (None, None),
        };
        let session_id = named.or(session).cloned();
        Problem { session_id, seq, attachment: None, kind: self.kind(), message: self.to_string() }
    }

    /// Returns an [`Error::Invalid`] about an attachment of more than `limit` bytes.
    #[must_use]
    pub fn too_long(limit: u64) -> Self {
        Self::Invalid(format!("it is too long: an attachment has at most {limit} bytes"))
    }

    /// Returns an [`Error::Io`] about the operation `doing`.
    pub fn io(
        doing: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Io { doing: doing.into(), source: source.into() }
    }
}

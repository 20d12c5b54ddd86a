//! What a store refuses, and why.

use forklore_core::report::Problem;
use forklore_core::{ErrorKind, Label, SessionId};
use serde_json::{Value, json};

use crate::port::Mark;

/// The result of a call to a store.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a store did not do what it was asked. Nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No session has this id.
    #[error("session {0} does not exist")]
    NotFound(SessionId),
    /// The session was deleted; its id stays reserved.
    #[error("session {0} was deleted")]
    Deleted(SessionId),
    /// The id, or one that differs from it only in case, is taken or was once.
    #[error("session {0} already exists")]
    IdInUse(SessionId),
    /// The family has another session of this label.
    #[error("the label {label} is taken in this family by session {by}")]
    LabelInUse {
        /// The label.
        label: Label,
        /// Who has it.
        by: SessionId,
    },
    /// The session's head is not the expected one.
    #[error("session {session} is at seq {head}, not {expected}: somebody wrote to it")]
    Conflict {
        /// The session.
        session: SessionId,
        /// The head the caller expected.
        expected: i64,
        /// The real head.
        head: i64,
    },
    /// Something else than the head moved on under the caller.
    #[error("{what} changed meanwhile: {message}")]
    Stale {
        /// What it was, like `the source`.
        what: &'static str,
        /// What is so now.
        message: String,
    },
    /// The mark is of the feed of another store, or none.
    #[error("the mark {0} is not of this store's feed; read the feed from its beginning")]
    ForeignMark(Mark),
    /// The feed does not reach back, or not as far as, the mark.
    #[error("the mark {mark} has expired: {message}; read the feed from its beginning")]
    MarkExpired {
        /// The mark.
        mark: Mark,
        /// What became of the feed.
        message: String,
    },
    /// The store was deleted, or another was put in its place, while it was open.
    #[error("the store {location} is gone")]
    StoreGone {
        /// Where it was.
        location: String,
    },
    /// A runtime holds the session.
    #[error("session {session} is running, held by {owner}")]
    Leased {
        /// The session.
        session: SessionId,
        /// Who holds it.
        owner: String,
    },
    /// The lease of the caller is gone or somebody else's.
    #[error("{owner} no longer holds session {session}")]
    LeaseLost {
        /// The session.
        session: SessionId,
        /// The caller.
        owner: String,
    },
    /// Another process kept the store locked for too long.
    #[error("the store is busy: {0}")]
    Locked(String),
    /// Branch children outside the set to delete.
    #[error("session {session} has {count} branch children that build on it")]
    HasChildren {
        /// The session.
        session: SessionId,
        /// The first 20 of them.
        children: Vec<SessionId>,
        /// How many there are.
        count: usize,
    },
    /// A call that makes no sense to a store, like a cut behind the parent's end.
    #[error("{0}")]
    Invalid(String),
    /// The operating system or the owner of the store forbids it.
    #[error("{0}")]
    Denied(String),
    /// The store is of another kind or version, or stands where it cannot be kept safely.
    #[error("{0}")]
    Unsupported(String),
    /// Stored bytes are damaged.
    #[error("{location} is damaged: {message}")]
    Corrupt {
        /// The session they belong to, where known.
        session: Option<SessionId>,
        /// Its log position, where known.
        seq: Option<u64>,
        /// Where the bytes are.
        location: String,
        /// What is wrong with them.
        message: String,
    },
    /// A session's history lacks events that were promised.
    #[error("session {session} has lost a part of its history: {missing}")]
    MissingAncestor {
        /// The session.
        session: SessionId,
        /// What is missing.
        missing: String,
    },
    /// The disk failed to make something durable, so nobody knows what it holds of it; a further
    /// sync may succeed without having written it (CRAFT D2). Reading goes on.
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
        /// What was being done, to what.
        doing: String,
        /// Why it failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// The kind that scripts see.
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

    /// The facts that a script may want besides the kind.
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
            Self::Corrupt { session, seq, location: place, .. } => {
                json!({"session_id": session, "seq": seq, "place": place})
            }
            Self::MissingAncestor { session, missing } => {
                json!({"session_id": session, "missing": missing})
            }
            Self::Stale { what, .. } => json!({"what": what}),
            Self::ForeignMark(mark) | Self::MarkExpired { mark, .. } => json!({"mark": mark}),
            Self::StoreGone { location: place } => json!({"place": place}),
            Self::Poisoned { location: place, .. } => json!({"place": place}),
            _ => json!({}),
        }
    }

    /// What is wrong, with its place if the error names one, else with this session.
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

    /// An [`Error::Invalid`] about an attachment of more than `limit` bytes.
    #[must_use]
    pub fn too_long(limit: u64) -> Self {
        Self::Invalid(format!("it is too long: an attachment has at most {limit} bytes"))
    }

    /// An [`Error::Io`] about `doing` something.
    pub fn io(
        doing: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Io { doing: doing.into(), source: source.into() }
    }
}

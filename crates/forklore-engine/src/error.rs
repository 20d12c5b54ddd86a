//! Why a verb was not carried out (SPEC 16).

use forklore_api::Elsewhere;
use forklore_core::call::OpenCall;
use forklore_core::data::NotJson;
use forklore_core::id::IdError;
use forklore_core::payload::PayloadError;
use forklore_core::{AttachmentId, CutError, ErrorKind, Selector, SessionId};
use forklore_store::Error as StoreError;
use serde_json::{Value, json};

/// Of sessions elsewhere, and of their folders, so many are named.
const NAMED: usize = 3;

/// The result of a verb.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a verb was not carried out. Nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The selector names no place in the session.
    #[error("session {session}: {source}")]
    Cut {
        /// The session.
        session: SessionId,
        /// Why.
        #[source]
        source: CutError,
    },
    /// A name is not in the grammar; it is not repeated.
    #[error("the {what} is not valid: {source}")]
    Name {
        /// What it was to name.
        what: &'static str,
        /// Why.
        source: IdError,
    },
    /// An event to append is not in order.
    #[error("event {line}: {source}")]
    Event {
        /// Its number in the batch, from 1.
        line: usize,
        /// Why.
        source: PayloadError,
    },
    /// An argument makes no sense.
    #[error("{message}")]
    Invalid {
        /// A word for scripts.
        reason: &'static str,
        /// What is wrong.
        message: String,
    },
    /// The cut leaves calls open, and the policy is to refuse.
    #[error("the cut leaves {} tool calls open", calls.len())]
    OpenCalls {
        /// The parent.
        session: SessionId,
        /// The calls.
        calls: Vec<OpenCall>,
    },
    /// A child of this id exists, and is not the one asked for.
    #[error("session {id} already exists, and is another child than the one asked for: {differs}")]
    OtherChild {
        /// The id.
        id: SessionId,
        /// What differs.
        differs: &'static str,
    },
    /// The child would have a permission that its parent has not.
    #[error("the parent does not have the permission {0:?}")]
    Permission(String),
    /// The fork would be deeper than is allowed.
    #[error("session {session} is {links} forks deep already, and {max} are allowed")]
    TooDeep {
        /// The parent.
        session: SessionId,
        /// Its links since the root or the last detached session.
        links: u64,
        /// How many are allowed.
        max: u64,
    },
    /// Parent links run in a circle.
    #[error("the ancestors of session {0} run in a circle")]
    Cycle(SessionId),
    /// A reference fits no session.
    #[error("no session fits {what}")]
    NoMatch {
        /// How it was referred to; never the text itself where that is hostile.
        what: String,
    },
    /// A reference fits no session of this folder, but some of other folders.
    #[error("no session of this folder fits {what}, but {}", do_fit(found))]
    Elsewhere {
        /// How it was referred to.
        what: String,
        /// The sessions of other folders, the last written first, 10 at most.
        found: Vec<Elsewhere>,
    },
    /// The session was not read from a file.
    #[error("session {0} was not read from a file")]
    NoSource(SessionId),
    /// A reference fits several sessions.
    #[error("{count} sessions fit {what}")]
    Ambiguous {
        /// How they were referred to.
        what: String,
        /// The first 10.
        candidates: Vec<SessionId>,
        /// How many there are.
        count: usize,
    },
    /// The store has not got the bytes of an attachment.
    #[error("the store has not got the bytes of the attachment {0}")]
    NoAttachment(AttachmentId),
    /// A file cannot be written back: sessions read from it are gone (SPEC 10).
    #[error("the file cannot be restored: {} of its sessions were deleted", sessions.len())]
    SourceGone {
        /// The sessions.
        sessions: Vec<SessionId>,
    },
    /// The store cannot do it.
    #[error("{0}")]
    Unsupported(String),
    /// What is saved goes into an empty store only.
    #[error("the store to save into holds sessions already")]
    NotEmpty,
    /// Reading a file or writing an answer failed.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        /// Why it failed.
        source: std::io::Error,
    },
}

impl Error {
    /// Who holds the session, where that is why.
    #[must_use]
    pub fn holder(&self) -> Option<&str> {
        match self {
            Self::Store(StoreError::Leased { owner, .. }) => Some(owner),
            _ => None,
        }
    }

    /// The kind that scripts see.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Store(error) => error.kind(),
            Self::Cut { .. }
            | Self::Name { .. }
            | Self::Event { .. }
            | Self::Invalid { .. }
            | Self::Ambiguous { .. } => ErrorKind::InvalidArgs,
            Self::OpenCalls { .. } | Self::TooDeep { .. } | Self::SourceGone { .. } => {
                ErrorKind::Conflict
            }
            Self::OtherChild { .. } | Self::NotEmpty => ErrorKind::AlreadyExists,
            Self::Permission(_) => ErrorKind::PermissionDenied,
            Self::Cycle(_) => ErrorKind::LineageCycle,
            Self::NoMatch { .. }
            | Self::Elsewhere { .. }
            | Self::NoAttachment(_)
            | Self::NoSource(_) => ErrorKind::NotFound,
            Self::Unsupported(_) => ErrorKind::Unsupported,
            Self::Io { source, .. } => match source.kind() {
                std::io::ErrorKind::NotFound => ErrorKind::NotFound,
                std::io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
                _ => ErrorKind::Internal,
            },
        }
    }

    /// The facts that a script may want besides the kind.
    #[must_use]
    pub fn details(&self) -> Value {
        match self {
            Self::Store(error) => error.details(),
            Self::Cut { session, source } => cut_details(session, source),
            Self::Event { line, .. } => json!({"line": line}),
            Self::Invalid { reason, .. } => json!({"reason": reason}),
            Self::OpenCalls { session, calls } => json!({
                "session_id": session, "count": calls.len(),
                "calls": calls.iter().take(20).collect::<Vec<_>>(),
            }),
            Self::OtherChild { id, differs } => json!({"session_id": id, "differs": differs}),
            Self::Permission(name) => json!({"permission": name}),
            Self::TooDeep { session, links, max } => {
                json!({"session_id": session, "links": links, "max_fork_depth": max})
            }
            Self::Cycle(session) | Self::NoSource(session) => json!({"session_id": session}),
            Self::NoAttachment(id) => json!({"ref": id}),
            Self::SourceGone { sessions } => json!({
                "count": sessions.len(),
                "deleted": sessions.iter().take(20).collect::<Vec<_>>(),
            }),
            Self::Elsewhere { found, .. } => json!({"elsewhere": found}),
            Self::Ambiguous { candidates, count, .. } => {
                json!({"candidates": candidates, "count": count})
            }
            _ => json!({}),
        }
    }

    /// An argument that makes no sense: a word for scripts, and what is wrong.
    pub fn invalid(reason: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid { reason, message: message.into() }
    }

    /// A failure of the system, and what was being done.
    pub fn io(doing: impl Into<String>, source: std::io::Error) -> Self {
        Self::Io { doing: doing.into(), source }
    }

    pub(crate) fn cut(session: &SessionId) -> impl Fn(CutError) -> Self + '_ {
        |source| Self::Cut { session: session.clone(), source }
    }

    pub(crate) fn nothing_to_fork(session: &SessionId, asked: &Selector) -> Self {
        Self::Cut {
            session: session.clone(),
            source: CutError::NothingToFork { requested: asked.clone() },
        }
    }
}

impl From<NotJson> for Error {
    fn from(error: NotJson) -> Self {
        Self::invalid("json", error.to_string())
    }
}

fn do_fit(found: &[Elsewhere]) -> String {
    if let [one] = found {
        return format!("{} of {} does", one.session_id, one.workspace);
    }
    let mut folders: Vec<&str> = found.iter().map(|one| one.workspace.as_str()).collect();
    folders.sort_unstable();
    folders.dedup();
    let more = if folders.len() > NAMED { " and others" } else { "" };
    folders.truncate(NAMED);
    format!("sessions of {}{more} do", folders.join(", "))
}

fn cut_details(session: &SessionId, error: &CutError) -> Value {
    match error {
        CutError::OutOfRange { requested: asked, valid } => {
            json!({"session_id": session, "reason": "out_of_range", "asked": asked, "valid": valid})
        }
        CutError::NothingToFork { requested: asked } => {
            json!({"session_id": session, "reason": "nothing_to_fork", "asked": asked})
        }
        CutError::ManyEvents { seqs, count } => {
            json!({"session_id": session, "reason": "ambiguous_event", "seqs": seqs, "count": count})
        }
        _ => json!({"session_id": session}),
    }
}

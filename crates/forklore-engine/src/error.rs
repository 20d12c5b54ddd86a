//! The errors of the engine (docs/semantics.md, Errors).

use forklore_api::{Elsewhere, LeftAlone};
use forklore_core::call::OpenCall;
use forklore_core::data::NotJson;
use forklore_core::id::IdError;
use forklore_core::operation::OperationId;
use forklore_core::payload::PayloadError;
use forklore_core::{AttachmentId, CutError, ErrorKind, Selector, SessionId};
use forklore_store::Error as StoreError;
use serde_json::{Value, json};

/// Maximum number of folders or sessions that the message of an error lists. [`Error::Elsewhere`]
/// lists the folders whose sessions match the user's session reference. The errors of an undo list
/// sessions.
const NAMED: usize = 3;

/// The result of an engine operation. The error is [`Error`] by default.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed. A failed operation changes no session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store refused the operation or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The selector (a position in a session, such as `turn:2`) does not resolve to a cut.
    #[error("session {session}: {source}")]
    Cut {
        /// The session in which the selector was resolved.
        session: SessionId,
        /// Why the selector does not resolve to a cut.
        #[source]
        source: CutError,
    },
    /// A name, such as a session id, does not match the grammar of such names. The error does not
    /// repeat the name, which may be hostile.
    #[error("the {what} is not valid: {source}")]
    Name {
        /// What kind of name is invalid, such as `session id`.
        what: &'static str,
        /// The rule of the grammar that the invalid name violates.
        source: IdError,
    },
    /// An event in an append batch is invalid.
    #[error("event {line}: {source}")]
    Event {
        /// The number of the invalid event in the append batch, from 1.
        line: usize,
        /// Why the payload or class of the event is not valid for its type.
        source: PayloadError,
    },
    /// An argument is invalid.
    #[error("{message}")]
    Invalid {
        /// The problem with the argument, as a fixed identifier for scripts, such as `too_long`.
        reason: &'static str,
        /// The problem with the argument, as text for people.
        message: String,
    },
    /// The requested cut leaves tool calls open, and the tool-call policy of the request refuses
    /// that.
    #[error("the cut leaves {} tool calls open", calls.len())]
    OpenCalls {
        /// The session to fork, in which the tool calls are open.
        session: SessionId,
        /// The cut that the request names. `None` if it names none.
        at: Option<Selector>,
        /// The tool calls that have no result at the cut.
        calls: Vec<OpenCall>,
    },
    /// A session with the requested id exists, but it is not the child that the fork request
    /// describes.
    #[error(
        "session {id} already exists, and is another child than the one asked for: {}",
        listed(differs)
    )]
    OtherChild {
        /// The id that the fork request gave for the child.
        id: SessionId,
        /// Everything in which the existing session differs from the fork request.
        differs: Vec<&'static str>,
    },
    /// The request gives a child session a permission that its parent does not have. The string is
    /// the name of the permission.
    #[error("the parent does not have the permission {0:?}")]
    Permission(String),
    /// The child of the fork would depend on more forks than the depth limit allows
    /// (docs/semantics.md, Fork).
    #[error("session {session} is {links} forks deep already, and {max} are allowed")]
    TooDeep {
        /// The session to fork, whose children would be too deep.
        session: SessionId,
        /// The number of parent links from this session up to the nearest session that needs no
        /// ancestor: a root, a delegate, a copy or a detached session. At most `max`, because the
        /// count stops there.
        links: u64,
        /// The maximum number of parent links from a session up to the nearest session that needs
        /// no ancestor.
        max: u64,
    },
    /// The parent links of this session form a cycle.
    #[error("the ancestors of session {0} run in a circle")]
    Cycle(SessionId),
    /// The session was deleted. It is in the trash, from which it can be brought back.
    #[error("session {0} was deleted, and can be brought back")]
    InTrash(SessionId),
    /// A session reference, such as an id or `@label`, matches no session.
    #[error("no session fits {what}")]
    NoMatch {
        /// A description of the session reference. Never contains untrusted text.
        what: String,
    },
    /// A session reference matches no session of the current workspace, but it matches sessions of
    /// other workspaces.
    #[error("no session of this folder fits {what}, but {}", do_fit(found))]
    Elsewhere {
        /// A description of the session reference. Never contains untrusted text.
        what: String,
        /// Up to 10 matching sessions of other workspaces, most recently updated first.
        found: Vec<Elsewhere>,
    },
    /// The operation needs the file from which this session was imported, but the session was not
    /// imported from a file.
    #[error("session {0} was not read from a file")]
    NoSource(SessionId),
    /// A session reference, such as the prefix of an id, matches several sessions.
    #[error("{count} sessions fit {what}")]
    Ambiguous {
        /// A description of the ambiguous session reference. Never contains untrusted text.
        what: String,
        /// The first 10 sessions that match the reference.
        candidates: Vec<SessionId>,
        /// The number of all sessions that match the reference.
        count: usize,
    },
    /// The store does not have the bytes of this attachment.
    #[error("the store has not got the bytes of the attachment {0}")]
    NoAttachment(AttachmentId),
    /// An imported file cannot be restored, because sessions that were imported from it were
    /// deleted, or because its stored bytes were erased.
    #[error("the file cannot be restored: {}", why_gone(sessions.len()))]
    SourceGone {
        /// The deleted sessions that were imported from the file. Empty if none was deleted, but
        /// stored bytes of the file were erased.
        sessions: Vec<SessionId>,
    },
    /// An imported file cannot be restored, because an event of it was redacted.
    #[error(
        "the file cannot be restored: event {seq} of session {session} was redacted ({reason})"
    )]
    SourceRedacted {
        /// A session with a redacted event of the file.
        session: SessionId,
        /// The seq of the event in that session.
        seq: u64,
        /// Why the event was redacted.
        reason: String,
    },
    /// The store has recorded no operation with this number, or does not retain it any more.
    #[error("there is no operation {0}")]
    NoOperation(OperationId),
    /// No recorded operation can be undone.
    #[error("nothing can be undone")]
    NothingToUndo,
    /// The operation was undone already.
    #[error("operation {operation} was undone by operation {by}")]
    AlreadyUndone {
        /// The operation to undo.
        operation: OperationId,
        /// The operation that undid it.
        by: OperationId,
    },
    /// Nothing of the operation can ever be undone.
    #[error("operation {operation} cannot be undone: {}", why_left(left))]
    NotUndoable {
        /// The operation to undo.
        operation: OperationId,
        /// The operation's sessions, each with the reason why it stays as it is.
        left: Vec<LeftAlone>,
    },
    /// Sessions of the operation changed after the operation, so it cannot be undone as a whole.
    #[error("operation {operation} cannot be undone {}: {}", how_much(*rest), why_left(left))]
    ChangedSince {
        /// The operation to undo.
        operation: OperationId,
        /// The sessions that the undo would leave as they are, each with the reason, such as a
        /// later change.
        left: Vec<LeftAlone>,
        /// Whether the rest of the operation can be undone.
        rest: bool,
    },
    /// The store does not support the operation.
    #[error("{0}")]
    Unsupported(String),
    /// The store into which a recovery should write is not empty.
    #[error("the store to save into holds sessions already")]
    NotEmpty,
    /// Reading a file, or writing the output or a temporary file, failed. A recovery also reports
    /// this error if it cannot build a marker for lost data.
    #[error("{doing}: {source}")]
    Io {
        /// The operation that failed, such as `writing the export`.
        doing: String,
        /// The I/O error.
        source: std::io::Error,
    },
}

/// Says why an imported file cannot be restored. `deleted` is the number of its sessions that were
/// deleted.
fn why_gone(deleted: usize) -> String {
    match deleted {
        0 => "its stored bytes were erased".to_owned(),
        1 => "1 of its sessions was deleted".to_owned(),
        _ => format!("{deleted} of its sessions were deleted"),
    }
}

fn how_much(rest: bool) -> &'static str {
    if rest { "as a whole" } else { "any more" }
}

/// Lists up to [`NAMED`] sessions as text, each with the reason why it stays as it is.
fn why_left(left: &[LeftAlone]) -> String {
    let some = left.iter().take(NAMED);
    let some = some.map(|left| format!("session {} {}", left.session_id, left.obstacle));
    let mut text = some.collect::<Vec<_>>().join(", ");
    if left.len() > NAMED {
        text += &format!(", and {} more", left.len() - NAMED);
    }
    text
}

impl Error {
    /// If the operation failed because a runtime has leased the session, returns the owner of that
    /// lease. Otherwise returns `None`.
    #[must_use]
    pub fn holder(&self) -> Option<&str> {
        match self {
            Self::Store(StoreError::Leased { owner, .. }) => Some(owner),
            _ => None,
        }
    }

    /// Checks whether the operation failed because a session with the requested id exists.
    #[must_use]
    pub fn is_id_in_use(&self) -> bool {
        matches!(self, Self::Store(StoreError::IdInUse(_)))
    }

    /// Returns the error kind. It determines the exit code of the command-line program.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Store(error) => error.kind(),
            Self::Cut { .. }
            | Self::Name { .. }
            | Self::Event { .. }
            | Self::Invalid { .. }
            | Self::Ambiguous { .. } => ErrorKind::InvalidArgs,
            Self::OpenCalls { .. }
            | Self::TooDeep { .. }
            | Self::SourceGone { .. }
            | Self::SourceRedacted { .. }
            | Self::AlreadyUndone { .. }
            | Self::ChangedSince { .. } => ErrorKind::Conflict,
            Self::OtherChild { .. } | Self::NotEmpty => ErrorKind::AlreadyExists,
            Self::Permission(_) => ErrorKind::PermissionDenied,
            Self::Cycle(_) => ErrorKind::LineageCycle,
            Self::InTrash(_)
            | Self::NoMatch { .. }
            | Self::NoOperation(_)
            | Self::NothingToUndo
            | Self::Elsewhere { .. }
            | Self::NoAttachment(_)
            | Self::NoSource(_) => ErrorKind::NotFound,
            Self::Unsupported(_) | Self::NotUndoable { .. } => ErrorKind::Unsupported,
            Self::Io { source, .. } => match source.kind() {
                std::io::ErrorKind::NotFound => ErrorKind::NotFound,
                std::io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
                _ => ErrorKind::Internal,
            },
        }
    }

    /// Returns the machine-readable facts of the error, such as the ids of the sessions, as a JSON
    /// object. The error kind is not among them.
    #[must_use]
    pub fn details(&self) -> Value {
        match self {
            Self::Store(error) => error.details(),
            Self::Cut { session, source } => cut_details(session, source),
            Self::Event { line, .. } => json!({"line": line}),
            Self::Invalid { reason, .. } => json!({"reason": reason}),
            Self::OpenCalls { session, calls, .. } => json!({
                "session_id": session, "count": calls.len(),
                "calls": calls.iter().take(20).collect::<Vec<_>>(),
            }),
            Self::OtherChild { id, differs } => {
                json!({"session_id": id, "differs": listed(differs)})
            }
            Self::Permission(name) => json!({"permission": name}),
            Self::TooDeep { session, links, max } => {
                json!({"session_id": session, "links": links, "max_fork_depth": max})
            }
            Self::Cycle(session) | Self::NoSource(session) | Self::InTrash(session) => {
                json!({"session_id": session})
            }
            Self::NoAttachment(id) => json!({"ref": id}),
            Self::NoOperation(operation) => json!({"operation": operation}),
            Self::AlreadyUndone { operation, by } => {
                json!({"operation": operation, "undone_by": by})
            }
            Self::NotUndoable { operation, left } | Self::ChangedSince { operation, left, .. } => {
                json!({
                    "operation": operation, "count": left.len(),
                    "left": left.iter().take(20).collect::<Vec<_>>(),
                })
            }
            Self::SourceGone { sessions } => json!({
                "count": sessions.len(),
                "deleted": sessions.iter().take(20).collect::<Vec<_>>(),
            }),
            Self::SourceRedacted { session, seq, reason } => {
                json!({"session_id": session, "seq": seq, "reason": reason})
            }
            Self::Elsewhere { found, .. } => json!({"elsewhere": found}),
            Self::Ambiguous { candidates, count, .. } => {
                json!({"candidates": candidates, "count": count})
            }
            _ => json!({}),
        }
    }

    /// Builds an error for an invalid argument. `reason` is a fixed identifier for scripts.
    pub fn invalid(reason: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid { reason, message: message.into() }
    }

    /// Builds an error for an I/O failure. `doing` names the operation that failed.
    pub fn io(doing: impl Into<String>, source: std::io::Error) -> Self {
        Self::Io { doing: doing.into(), source }
    }

    pub(crate) fn cut(session: &SessionId) -> impl Fn(CutError) -> Self + '_ {
        |source| Self::Cut { session: session.clone(), source }
    }

    pub(crate) fn nothing_to_fork(session: &SessionId, requested: &Selector) -> Self {
        Self::Cut {
            session: session.clone(),
            source: CutError::NothingToFork { requested: requested.clone() },
        }
    }
}

impl From<NotJson> for Error {
    fn from(error: NotJson) -> Self {
        Self::invalid("json", error.to_string())
    }
}

/// Joins the names as a sentence does: `the label, the title and the summary`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
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
        CutError::OutOfRange { requested: request, valid } => {
            json!({"session_id": session, "reason": "out_of_range", "asked": request, "valid": valid})
        }
        CutError::NothingToFork { requested: request } => {
            json!({"session_id": session, "reason": "nothing_to_fork", "asked": request})
        }
        CutError::ManyEvents { seqs, count } => {
            json!({"session_id": session, "reason": "ambiguous_event", "seqs": seqs, "count": count})
        }
        _ => json!({"session_id": session}),
    }
}

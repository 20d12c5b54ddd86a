//! The start of a branch or delegate whose parent is a session of the same file.

use forklore_core::{SessionId, SessionKind};
use forklore_store::sources::RecordLocation;

use crate::file_session::FileSession;

/// The start of a child session (a branch or delegate) whose parent is a session of the same file,
/// or of an earlier revision of the file. Contains the parent, the parent's event after which the
/// child begins, and the child's kind.
#[derive(Debug, PartialEq)]
pub(crate) struct BranchStart {
    /// The parent of the new session.
    pub(crate) parent: BranchParent,
    pub(crate) after: Follows,
    pub(crate) kind: SessionKind,
}

/// The parent session of a branch that begins inside an imported file.
#[derive(Debug, PartialEq)]
pub(crate) enum BranchParent {
    /// A session of the same file, by its number in the file, counted from 0.
    Own(u32),
    /// A session of an earlier revision (the file's content before it was rewritten), by its id.
    Earlier(SessionId),
}

/// The event of the parent session after which a child session begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Follows {
    /// The child begins before all events of the parent session and inherits nothing.
    Nothing,
    /// An own event of the parent session, not an inherited one. The value is its position among
    /// the own events, counted from 0.
    Own(u64),
    /// An event that the parent session inherits, by its seq.
    Inherited(u64),
    /// An event in the parent session's history, inherited or own, by its seq.
    Seq(u64),
}

impl Follows {
    pub(crate) fn of(location: RecordLocation) -> Self {
        match location.inherited {
            true => Self::Inherited(location.position),
            false => Self::Own(location.position),
        }
    }

    /// Returns the last of the session's own events that an import added. Returns `Nothing` if
    /// there is no session or no such event.
    pub(crate) fn tip(session: Option<&FileSession>) -> Self {
        session.and_then(FileSession::tip).map_or(Self::Nothing, Self::Own)
    }
}

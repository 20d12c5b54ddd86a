//! Where a branch inside a file begins: its parent session, and the last event before it.

use forklore_core::{SessionId, SessionKind};
use forklore_store::sources::RecordLocation;

use crate::file_session::FileSession;

/// Where a branch inside the file begins.
#[derive(Debug, PartialEq)]
pub(crate) struct BranchStart {
    /// The session that the branch continues.
    pub(crate) parent: BranchParent,
    pub(crate) after: Follows,
    pub(crate) kind: SessionKind,
}

/// The parent session of a branch inside the file.
#[derive(Debug, PartialEq)]
pub(crate) enum BranchParent {
    /// A session of this file, by its 0-based number in the file.
    Own(u32),
    /// A session of an earlier revision of the file, by its id.
    Earlier(SessionId),
}

/// The last event before a branch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Follows {
    /// No event: the branch inherits nothing.
    Nothing,
    /// The parent session's own event at this position, counted from 0.
    Own(u64),
    /// The event with this seq that the parent session inherits.
    Inherited(u64),
    /// The event with this seq in the parent session's history, inherited or own.
    Seq(u64),
}

impl Follows {
    pub(crate) fn of(location: RecordLocation) -> Self {
        match location.inherited {
            true => Self::Inherited(location.position),
            false => Self::Own(location.position),
        }
    }

    /// Returns the last of the session's own events that came from the file, or `Nothing`.
    pub(crate) fn tip(session: Option<&FileSession>) -> Self {
        session.and_then(FileSession::tip).map_or(Self::Nothing, Self::Own)
    }
}

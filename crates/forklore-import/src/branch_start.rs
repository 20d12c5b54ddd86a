//! Where a branch of a file begins.

use forklore_core::{SessionId, SessionKind};
use forklore_store::sources::RecordLocation;

use crate::file_session::FileSession;

/// Where a branch of the file begins.
#[derive(Debug, PartialEq)]
pub(crate) struct BranchStart {
    /// The session from which it branches.
    pub(crate) parent: BranchParent,
    pub(crate) after: Follows,
    pub(crate) kind: SessionKind,
}

/// The session from which a branch of the file begins.
#[derive(Debug, PartialEq)]
pub(crate) enum BranchParent {
    /// A session of this file, by its number.
    Own(u32),
    /// A session of an earlier revision of the file.
    Earlier(SessionId),
}

/// The last event before a branch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Follows {
    /// No event: the branch begins at the start.
    Nothing,
    /// The session's own event at this position.
    Own(u64),
    /// The inherited event with this seq.
    Inherited(u64),
    /// The event with this seq in the session's history.
    Seq(u64),
}

impl Follows {
    pub(crate) fn of(location: RecordLocation) -> Self {
        match location.inherited {
            true => Self::Inherited(location.position),
            false => Self::Own(location.position),
        }
    }

    /// Returns the last event of a session that came from the file.
    pub(crate) fn tip(session: Option<&FileSession>) -> Self {
        session.and_then(FileSession::tip).map_or(Self::Nothing, Self::Own)
    }
}

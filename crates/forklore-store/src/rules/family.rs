//! The rules of families: where a session may begin, and which ones may be deleted.

use forklore_core::{Header, SessionId, SessionKind};

use crate::error::{Error, Result};
use crate::port::{Beginning, Children, NewSession};

/// The number of children that an error lists.
const NAMED: usize = 20;

/// Checks that a new session's kind matches its beginning. Returns the beginning; `None` for a
/// root.
///
/// # Errors
/// `Invalid` if they do not match, or a child has no `session_fork`.
pub fn check_kind(new: &NewSession) -> Result<Option<&Beginning>> {
    match (&new.from, new.kind) {
        (None, SessionKind::Root) => Ok(None),
        (None, _) => Err(Error::Invalid("a session that is no root needs a parent".into())),
        (Some(from), SessionKind::Branch | SessionKind::Delegate) if !new.events.is_empty() => {
            Ok(Some(from))
        }
        (Some(_), _) => {
            Err(Error::Invalid("a child is no root and begins with its session_fork".into()))
        }
    }
}

/// Checks that the cut is not after the parent's end.
///
/// # Errors
/// `Invalid` if it is.
pub fn check_cut(from: &Beginning, parent: &Header) -> Result<()> {
    if from.cut.inheritable <= parent.counts.inheritable {
        return Ok(());
    }
    Err(Error::Invalid(format!("the cut lies behind the end of {}", from.parent)))
}

/// Checks whether the session reads history through its parent, so that deleting the parent alone
/// is rejected. True for a living branch that was not detached.
#[must_use]
pub fn builds_on_parent(child: &Header) -> bool {
    child.kind == SessionKind::Branch && !child.detached && child.deleted.is_none()
}

/// Rejects deleting a session if the branch children in `left` would lose their parent.
///
/// # Errors
/// `HasChildren` with the first 20 of them and their number.
pub fn refuse_children(
    session: &Header,
    children: Children,
    mut left: Vec<SessionId>,
) -> Result<()> {
    if left.is_empty() || children == Children::Retain || session.deleted.is_some() {
        return Ok(());
    }
    let count = left.len();
    left.truncate(NAMED);
    Err(Error::HasChildren { session: session.id.clone(), children: left, count })
}

//! Who may begin where, and who may be deleted.

use forklore_core::{Header, SessionId, SessionKind};

use crate::error::{Error, Result};
use crate::port::{Beginning, Children, NewSession};

/// How many children a refusal names.
const NAMED: usize = 20;

/// Where the session begins; none for a root.
///
/// # Errors
/// `Invalid` where its kind does not go with that, or a child has no `session_fork`.
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

/// Checks that the parent reaches as far as the cut.
///
/// # Errors
/// `Invalid` where it does not.
pub fn check_cut(from: &Beginning, parent: &Header) -> Result<()> {
    if from.cut.inheritable <= parent.counts.inheritable {
        return Ok(());
    }
    Err(Error::Invalid(format!("the cut lies behind the end of {}", from.parent)))
}

/// Whether the session reads through its parent, so that a delete of the parent alone is refused: a
/// living branch that was not detached.
#[must_use]
pub fn builds_on_parent(child: &Header) -> bool {
    child.kind == SessionKind::Branch && !child.detached && child.deleted.is_none()
}

/// Refuses the delete of a session while these branch children, in order, would lose their parent.
///
/// # Errors
/// `HasChildren` with the first of them and their number.
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

//! The rules of families: where a child may begin, and which sessions may be deleted.

use forklore_core::{Header, SessionId, SessionKind};

use crate::error::{Error, Result};
use crate::port::{Beginning, Children, NewSession};

/// The maximum number of children whose ids an error lists.
const NAMED: usize = 20;

/// Checks that the kind of a new session matches its `from` (its parent and cut). Returns `from`,
/// which is `None` for a root.
///
/// # Errors
/// `Invalid` if the kind and `from` do not match, or if a child has no events and so lacks its
/// `session_fork`.
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

/// Checks that the cut of a child is not after the end of its parent's log.
///
/// # Errors
/// `Invalid` if the cut is after the parent's end.
pub fn check_cut(from: &Beginning, parent: &Header) -> Result<()> {
    if from.cut.inheritable <= parent.counts.inheritable {
        return Ok(());
    }
    Err(Error::Invalid(format!("the cut lies behind the end of {}", from.parent)))
}

/// Checks whether the session still depends on its parent, which therefore cannot be deleted alone.
/// This is true for a branch that was neither detached nor deleted.
#[must_use]
pub fn builds_on_parent(child: &Header) -> bool {
    child.kind == SessionKind::Branch && !child.detached && child.deleted.is_none()
}

/// Rejects the delete of a session if branch children would remain. `left` are the children that
/// depend on the session and are not deleted with it. Rejects nothing if `children` is
/// [`Children::Retain`] or the session is already deleted.
///
/// # Errors
/// `HasChildren`, with the first 20 ids in `left` and their total number.
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

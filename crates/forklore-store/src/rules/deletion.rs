//! The rules of the trash: what a delete does to a session, and what brings it back
//! (docs/semantics.md, Delete, detach).

use forklore_core::{Header, Label, Tombstone};
use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::port::Deletion;

/// What a delete did to one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deleted {
    /// The delete did nothing, because [`is_deleted_by`] is false for the session.
    Skipped,
    /// The session is now in the trash.
    Trashed,
    /// The session is now a tombstone. The store must erase all data of the session that no other
    /// session needs.
    Erased,
}

/// Checks whether a delete changes the session with this header. If the delete does not change the
/// session, a store must skip the session, and the children and the lease of the session do not
/// prevent the delete.
#[must_use]
pub fn is_deleted_by(header: &Header, deletion: Deletion) -> bool {
    match (header.deleted, deletion) {
        (None, Deletion::Trash | Deletion::Erase) => true,
        (Some(tombstone), Deletion::Erase) => tombstone.restorable,
        (Some(tombstone), Deletion::Expire(before)) => {
            tombstone.restorable && tombstone.deleted <= before
        }
        (Some(_), Deletion::Trash) | (None, Deletion::Expire(_)) => false,
    }
}

/// Changes the header of a session that is deleted at the time `now`, unless [`is_deleted_by`]
/// skips it. If the session was already in the trash, its header retains the time at which it came
/// there.
pub fn delete(header: &mut Header, deletion: Deletion, now: Timestamp) -> Deleted {
    if !is_deleted_by(header, deletion) {
        return Deleted::Skipped;
    }
    if deletion == Deletion::Trash {
        header.deleted = Some(Tombstone { deleted: now, restorable: true });
        header.lease = None;
        return Deleted::Trashed;
    }
    let deleted = header.deleted.map_or(now, |tombstone| tombstone.deleted);
    make_tombstone(header, deleted);
    Deleted::Erased
}

/// Turns the header of a session into a tombstone (what remains of an erased session). `deleted` is
/// the time at which the session was deleted. The header retains the session's lineage and usage,
/// and loses title, principal, metadata, config, leaf and lease.
pub fn make_tombstone(header: &mut Header, deleted: Timestamp) {
    header.deleted = Some(Tombstone { deleted, restorable: false });
    header.title = None;
    header.principal = None;
    header.metadata = None;
    header.config = None;
    header.leaf = None;
    header.lease = None;
}

/// Brings a session back from the trash, with this label. Returns whether the header changed; the
/// header of a living session does not change.
///
/// # Errors
/// `Deleted` if the session was erased.
pub fn undelete(header: &mut Header, label: &Label) -> Result<bool> {
    if header.is_erased() {
        return Err(Error::Deleted(header.id.clone()));
    }
    let was_deleted = header.deleted.take().is_some();
    if was_deleted {
        header.label = label.clone();
    }
    Ok(was_deleted)
}

//! Changes a session's header: its label, title, leaf, `copy_of` or lease. Also brings a session
//! back from the trash.

use forklore_core::{Header, SessionId};
use forklore_store::port::Change;
use forklore_store::rules::take_lease;
use forklore_store::{Error, Result};

use crate::folder::Folder;
use crate::{label, remove};

/// Changes a field of a session's header, such as its label, title or lease, or brings the session
/// back from the trash. Returns the header after the change. Changes nothing for
/// [`Change::Detach`], which the function `detach` performs.
pub(crate) fn change(folder: &Folder, id: &SessionId, change: &Change) -> Result<Header> {
    if let Change::Undelete(label) = change {
        return remove::undelete(folder, id, label);
    }
    let mut session = folder.writable(id)?;
    let old = session.header.clone();
    let header = &mut session.header;
    match change {
        Change::Label(label) => {
            label::check(folder, &old.root_id, label, id)?;
            label::claim(folder, &old.root_id, label, id)?;
            header.label = label.clone();
        }
        Change::Title(title) => header.title.clone_from(title),
        Change::Leaf(leaf) => header.leaf.clone_from(leaf),
        Change::CopyOf(copy_of) => header.copy_of.clone_from(copy_of),
        Change::Hold { owner, lasts } => {
            header.lease = Some(take_lease(&old, owner, *lasts, folder.clock.now())?);
        }
        Change::Release { owner } => {
            if header.lease.take_if(|lease| lease.owner == *owner).is_none() {
                return Err(Error::LeaseLost { session: id.clone(), owner: owner.clone() });
            }
        }
        Change::Detach | Change::Undelete(_) => {}
    }
    if session.header != old {
        folder.commit(&mut session, String::new())?;
    }
    if session.header.label != old.label {
        label::free(folder, &old)?;
    }
    Ok(session.header)
}

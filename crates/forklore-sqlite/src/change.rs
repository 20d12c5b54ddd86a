//! Changing what is not the log: label, title, leaf, lease.

use forklore_model::{Header, Lease, SessionId};
use forklore_store::Error;
use forklore_store::port::Change;
use forklore_store::rules::hold;

use crate::create::check_label;
use crate::fault::Result;
use crate::session;
use crate::write::WriteTx;

/// Makes every change but [`Change::Detach`]; the header it leads to.
pub(crate) fn change(tx: &WriteTx<'_>, id: &SessionId, change: &Change) -> Result<Header> {
    let session = session::living(tx, id)?;
    let sid = session.sid;
    match change {
        Change::Label(label) => {
            check_label(tx, session.root, label, sid)?;
            tx.write("UPDATE session SET label = ? WHERE sid = ?", &[&label.as_str(), &sid])?;
        }
        Change::Title(title) => {
            tx.write("UPDATE session SET title = ? WHERE sid = ?", &[title, &sid])?;
        }
        Change::Leaf(leaf) => {
            let leaf = leaf.as_ref().map(SessionId::as_str);
            tx.write("UPDATE session SET leaf = ? WHERE sid = ?", &[&leaf, &sid])?;
        }
        Change::Hold { owner, expires, now } => {
            let lease = hold(&session.header, owner, *expires, *now)?;
            set_lease(tx, sid, Some(&lease))?;
        }
        Change::Release { owner } => {
            if session.header.lease.is_none_or(|lease| lease.owner != *owner) {
                return Err(Error::LeaseLost { session: id.clone(), owner: owner.clone() }.into());
            }
            set_lease(tx, sid, None)?;
        }
        Change::Detach => {}
    }
    Ok(session::with_notes(tx, id)?.header)
}

fn set_lease(tx: &WriteTx<'_>, sid: i64, lease: Option<&Lease>) -> Result<()> {
    tx.write(
        "UPDATE session SET lease_owner = ?, lease_expires = ?, lease_began = ? WHERE sid = ?",
        &[
            &lease.map(|lease| &lease.owner),
            &lease.map(|lease| lease.expires.as_microsecond()),
            &lease.map(|lease| lease.began_at),
            &sid,
        ],
    )?;
    Ok(())
}

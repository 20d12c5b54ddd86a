//! Changes a session's header: its label, title, leaf, `copy_of` or lease. Also brings a session
//! back from the trash.

use forklore_core::{Header, Lease, SessionId};
use forklore_store::Error;
use forklore_store::feed::What;
use forklore_store::port::Change;
use forklore_store::rules::take_lease;

use crate::create::check_label;
use crate::fault::Result;
use crate::feed;
use crate::integer::signed;
use crate::remove;
use crate::session::{self, Session};
use crate::write_tx::WriteTx;

/// Changes a field of a session's header, such as its label, title or lease, or brings the session
/// back from the trash. Returns the header after the change. Changes nothing for
/// [`Change::Detach`], which the function `detach` performs.
pub(crate) fn change(tx: &WriteTx<'_>, id: &SessionId, change: &Change) -> Result<Header> {
    if let Change::Undelete(label) = change {
        remove::undelete(tx, id, label)?;
        return Ok(session::with_notes(tx, id)?.header);
    }
    let mut session = session::living(tx, id)?;
    match change {
        Change::Label(label) => {
            check_label(tx, session.root, label, session.sid)?;
            session.header.label = label.clone();
            let sql = "UPDATE session SET label = ?, feed_changed = ?, crc = ? WHERE sid = ?";
            feed::update(tx, &mut session, What::Changed, sql, &[&label.as_str()])?;
        }
        Change::Title(title) => {
            session.header.title.clone_from(title);
            let sql = "UPDATE session SET title = ?, feed_changed = ?, crc = ? WHERE sid = ?";
            feed::update(tx, &mut session, What::Changed, sql, &[title])?;
        }
        Change::Leaf(leaf) => {
            session.header.leaf.clone_from(leaf);
            let sql = "UPDATE session SET leaf = ?, feed_changed = ?, crc = ? WHERE sid = ?";
            feed::update(
                tx,
                &mut session,
                What::Changed,
                sql,
                &[&leaf.as_ref().map(SessionId::as_str)],
            )?;
        }
        Change::CopyOf(copy_of) => {
            session.header.copy_of.clone_from(copy_of);
            let sql = "UPDATE session SET copy_of = ?, copy_index = ?, feed_changed = ?, crc = ? WHERE sid = ?";
            let (id, index) = match copy_of {
                Some(copy) => (Some(copy.session_id.as_str()), Some(signed(copy.index))),
                None => (None, None),
            };
            feed::update(tx, &mut session, What::Changed, sql, &[&id, &index])?;
        }
        Change::Hold { owner, lasts } => {
            let lease = take_lease(&session.header, owner, *lasts, tx.now)?;
            set_lease(tx, session, Some(lease))?;
        }
        Change::Release { owner } => {
            if session.header.lease.as_ref().is_none_or(|lease| lease.owner != *owner) {
                return Err(Error::LeaseLost { session: id.clone(), owner: owner.clone() }.into());
            }
            set_lease(tx, session, None)?;
        }
        Change::Detach | Change::Undelete(_) => {}
    }
    Ok(session::with_notes(tx, id)?.header)
}

fn set_lease(tx: &WriteTx<'_>, mut session: Session, lease: Option<Lease>) -> Result<()> {
    let columns = lease
        .as_ref()
        .map(|lease| (lease.owner.clone(), lease.expires.as_microsecond(), lease.began_at));
    let (owner, expires, began) = columns.map_or((None, None, None), |(owner, expires, began)| {
        (Some(owner), Some(expires), Some(began))
    });
    session.header.lease = lease;
    let sql = "UPDATE session SET lease_owner = ?, lease_expires = ?, lease_began = ?,
             feed_changed = ?, crc = ? WHERE sid = ?";
    feed::update(tx, &mut session, What::Changed, sql, &[&owner, &expires, &began])
}

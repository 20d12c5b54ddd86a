//! Detaches a session: gives it a copy of its prefix (docs/semantics.md, Delete, detach).

use forklore_core::{Header, SessionId, Strategy};
use forklore_store::Error;
use forklore_store::feed::What;
use forklore_store::port::Changed;

use crate::ancestry;
use crate::copy::Staged;
use crate::fault::Result;
use crate::feed;
use crate::session;
use crate::write_tx::WriteTx;

/// Checks whether the session depends on no ancestor's events: it has its own copy of its prefix,
/// or inherits nothing.
pub(crate) fn has_own(header: &Header) -> bool {
    header.detached
        || header.inherited.inheritable == 0
        || header.strategy == Some(Strategy::ReplayV1)
}

/// Gives the session its own copy of its inherited events, unless it already has one. Also marks
/// the session as detached. `staged` is an unfinished copy, if the caller has already begun to
/// copy.
pub(crate) fn detach(tx: &WriteTx<'_>, id: &SessionId, staged: Option<&Staged>) -> Result<Changed> {
    let session = session::living(tx, id)?;
    let copied_events =
        if has_own(&session.header) { 0 } else { session.header.inherited.inheritable };
    if copied_events > 0 {
        let ancestry = match staged {
            Some(staged) => staged.publish(tx, session.root, copied_events)?,
            None => {
                let staged = Staged::begin(tx, id, copied_events)?;
                staged.publish(tx, session.root, copied_events)?
            }
        };
        ancestry::save(tx, session.sid, &ancestry)?;
    }
    Ok(Changed { header: mark(tx, id)?, copied_events })
}

fn mark(tx: &WriteTx<'_>, id: &SessionId) -> Result<Header> {
    let mut session = session::with_notes(tx, id)?;
    if session.header.deleted.is_some() {
        return Err(Error::Deleted(id.clone()).into());
    }
    if !session.header.detached {
        session.header.detached = true;
        let sql = "UPDATE session SET detached = 1, feed_changed = ?, crc = ? WHERE sid = ?";
        feed::update(tx, &mut session, What::Changed, sql, &[])?;
    }
    Ok(session.header)
}

//! Giving a session a copy of its prefix (SPEC 10).

use forklore_core::{Header, SessionId, Strategy};
use forklore_store::feed::What;
use forklore_store::port::Changed;
use forklore_store::{Error, Result};

use crate::ancestry;
use crate::copy::{self, Staged};
use crate::fault::Fault;
use crate::feed;
use crate::session;
use crate::store::SqliteStore;
use crate::write::WriteTx;

/// Copies what the session inherits, unless it has its own copy.
pub(crate) fn detach(store: &SqliteStore, id: &SessionId) -> Result<Changed> {
    let doing = "detaching in";
    let header = store.read_with("reading", |conn| Ok(session::living(conn, id)?.header))?;
    if has_own(&header) {
        let header = store.write(doing, |tx| mark(tx, id))?;
        return Ok(Changed { header, copied_events: 0 });
    }
    let staged = copy::stage(store, id, header.inherited.kept)?;
    let done = store.write(doing, |tx| switch(tx, id, &staged));
    if !done.as_ref().is_ok_and(|changed| changed.copied_events > 0) {
        staged.abandon(store);
    }
    done
}

fn has_own(header: &Header) -> bool {
    header.detached || header.inherited.kept == 0 || header.strategy == Some(Strategy::ReplayV1)
}

/// Makes the session name the copy, unless somebody else detached it meanwhile.
fn switch(tx: &WriteTx<'_>, id: &SessionId, staged: &Staged) -> Result<Changed, Fault> {
    let session = session::living(tx, id)?;
    let kept = session.header.inherited.kept;
    let copied_events = if session.header.detached { 0 } else { kept };
    if copied_events > 0 {
        let ancestry = staged.publish(tx, session.root, kept)?;
        ancestry::save(tx, session.sid, &ancestry)?;
    }
    Ok(Changed { header: mark(tx, id)?, copied_events })
}

fn mark(tx: &WriteTx<'_>, id: &SessionId) -> Result<Header, Fault> {
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

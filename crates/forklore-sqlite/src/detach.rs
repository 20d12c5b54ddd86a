//! Giving a session a copy of its prefix (SPEC 10).

use forklore_model::{Header, SessionId, Strategy};
use forklore_store::Result;

use crate::ancestry;
use crate::copy::{self, Staged};
use crate::fault::Fault;
use crate::session;
use crate::store::SqliteStore;
use crate::write::WriteTx;

/// Copies what the session inherits, unless it has its own copy; how many events that were.
pub(crate) fn detach(store: &SqliteStore, id: &SessionId) -> Result<u64> {
    let header = store.read_with("reading", |conn| Ok(session::living(conn, id)?.header))?;
    let kept = header.inherited.kept;
    if has_own(&header) {
        store.write("detaching in", |tx| mark(tx, id))?;
        return Ok(0);
    }
    let staged = copy::stage(store, id, kept)?;
    let done = store.write("detaching in", |tx| switch(tx, id, &staged, kept));
    if !matches!(done, Ok(true)) {
        staged.abandon(store);
    }
    Ok(if done? { kept } else { 0 })
}

fn has_own(header: &Header) -> bool {
    header.detached || header.inherited.kept == 0 || header.strategy == Some(Strategy::ReplayV1)
}

/// Whether the session now names the copy; not if somebody else detached it meanwhile.
fn switch(tx: &WriteTx<'_>, id: &SessionId, staged: &Staged, kept: u64) -> Result<bool, Fault> {
    let session = session::living(tx, id)?;
    if session.header.detached {
        return Ok(false);
    }
    let ancestry = staged.publish(tx, session.root, kept)?;
    ancestry::save(tx, session.sid, &ancestry)?;
    mark(tx, id)?;
    Ok(true)
}

fn mark(tx: &WriteTx<'_>, id: &SessionId) -> Result<(), Fault> {
    let sid = session::living(tx, id)?.sid;
    tx.write(
        "UPDATE session SET detached = 1 WHERE sid = ? AND detached = 0",
        &[&sid],
    )?;
    Ok(())
}

//! `gc`: erases events that no session needs, and shrinks the store's files so that none contains
//! deleted events.

use std::path::Path;
use std::time::{Duration, Instant};

use forklore_store::disk::{os, with_suffix};
use forklore_store::port::Collected;
use forklore_store::{Error, Result};
use rusqlite::Connection;

use crate::ancestry;
use crate::copy;
use crate::fault::Fault;
use crate::operation;
use crate::remove::families;
use crate::store::SqliteStore;
use crate::trim::trim;
use crate::write_tx::WriteTx;

/// How long `gc` waits for another process's checkpoint. [`AGAIN`] is the pause between two
/// attempts.
const WAIT: Duration = Duration::from_secs(5);
const AGAIN: Duration = Duration::from_millis(10);

/// Erases all events and ancestry pages that no session needs, and shrinks the store's files.
pub(crate) fn gc(store: &SqliteStore) -> Result<Collected> {
    let before = store_bytes(store.path())?;
    let (mut collected, erased) = store.write("collecting garbage in", collect)?;
    store.exclusive("giving back the space of", |conn| compact(conn, erased))?;
    let after = store_bytes(store.path())?;
    // What was computed from the store may contain deleted events too.
    collected.freed_bytes = before.saturating_sub(after) + store.remove_cache()?;
    Ok(collected)
}

fn collect(tx: &WriteTx<'_>) -> Result<(Collected, bool), Fault> {
    let mut collected = Collected::default();
    for segment in copy::abandoned(tx)? {
        collected.events += copy::erase(tx, segment)?;
        collected.segments += 1;
    }
    for root in families(tx)? {
        tx.begin_part();
        let trimmed = trim(tx, root)?;
        collected.events += trimmed.events;
        collected.segments += trimmed.segments;
    }
    tx.begin_part();
    ancestry::check_all(tx)?;
    tx.write(
        "DELETE FROM ancestry_page WHERE id NOT IN (
             WITH RECURSIVE used (id) AS (
                 SELECT page FROM ancestry WHERE page IS NOT NULL
                 UNION SELECT prev FROM ancestry_page JOIN used USING (id) WHERE prev IS NOT NULL
                 UNION SELECT jump FROM ancestry_page JOIN used USING (id) WHERE jump IS NOT NULL)
             SELECT id FROM used)",
        &[],
    )?;
    operation::collect(tx)?;
    let erased = tx.query_row("SELECT erased FROM upkeep", [], |row| row.get(0))?;
    Ok((collected, erased))
}

/// Empties the WAL. If `anew` is set, first rewrites the whole file with `VACUUM`. After an erasure
/// this is necessary: SQLite moves rows when it rebalances a tree, and `secure_delete` does not
/// clear the old copy of a moved row. The rewrite is also worthwhile if much of the file is free.
pub(crate) fn compact(conn: &Connection, anew: bool) -> Result<(), Fault> {
    if anew {
        conn.execute_batch("VACUUM")?;
    }
    empty_wal(conn)?;
    if anew {
        conn.execute("UPDATE upkeep SET erased = 0 WHERE erased", [])?;
    }
    Ok(())
}

/// Writes the whole WAL back into the database file, and truncates the WAL.
fn empty_wal(conn: &Connection) -> Result<(), Fault> {
    let begun = Instant::now();
    loop {
        let (busy, pages) = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
            Ok((row.get::<_, bool>(0)?, row.get::<_, i64>(1)?))
        })?;
        if !busy {
            return Ok(());
        }
        // SQLite itself waits for readers, but not for another checkpoint. If another checkpoint is
        // running, SQLite reports -1 pages.
        if pages >= 0 || begun.elapsed() > WAIT {
            let message = "somebody still reads an older state of it; run gc again later";
            return Err(Error::Locked(message.into()).into());
        }
        std::thread::sleep(AGAIN);
    }
}

/// Returns the total size of the database file, the WAL and the `-shm` file, in bytes.
pub(crate) fn store_bytes(path: &Path) -> Result<u64> {
    let mut bytes = std::fs::metadata(path).map_err(os("measuring", path))?.len();
    for suffix in ["-wal", "-shm"] {
        bytes += std::fs::metadata(with_suffix(path, suffix)).map_or(0, |file| file.len());
    }
    Ok(bytes)
}

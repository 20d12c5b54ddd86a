//! Runs the conformance suite with chunks of two events, so that almost every event is sealed. Its
//! cases are too short to fill chunks of 64 events.
#![allow(clippy::unwrap_used, reason = "a store that cannot be opened ends the test")]

use std::path::Path;

use forklore_conformance::{Directory, Handle, suite};
use forklore_core::SessionId;
use forklore_sqlite::{Options, SqliteStore};

suite!(
    Directory::new(|path| {
        let options = Options { chunk_events: 2, ..Options::default() };
        Handle::new(SqliteStore::open(&path.join("store.db"), options).unwrap())
    })
    .losing(lose);
    durable, processes, maintenance, sources, operations, shared_operations, loss
);

/// Removes the row of a session.
fn lose(path: &Path, session: &SessionId) {
    let database = rusqlite::Connection::open(path.join("store.db")).unwrap();
    let removed = database.execute("DELETE FROM session WHERE id = ?", [session.as_str()]);
    assert_eq!(removed, Ok(1));
}

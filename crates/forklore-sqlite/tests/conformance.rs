//! Runs the conformance suite, with all capabilities, on the SQLite store.
#![allow(clippy::unwrap_used, reason = "a store that cannot be opened ends the test")]

use std::path::Path;

use forklore_conformance::{Directory, Handle, suite};
use forklore_core::SessionId;
use forklore_sqlite::{Options, SqliteStore};

suite!(
    Directory::new(|path| {
        Handle::new(SqliteStore::open(&path.join("store.db"), Options::default()).unwrap())
    })
    .losing(lose);
    durable, processes, maintenance, sources, attachments, shared_attachments, operations,
    shared_operations, loss
);

/// Removes the row of a session.
fn lose(path: &Path, session: &SessionId) {
    let database = rusqlite::Connection::open(path.join("store.db")).unwrap();
    let removed = database.execute("DELETE FROM session WHERE id = ?", [session.as_str()]);
    assert_eq!(removed, Ok(1));
}

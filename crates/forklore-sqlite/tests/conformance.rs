//! Runs the conformance suite, with all capabilities, on the SQLite store.
#![allow(clippy::unwrap_used, reason = "a store that cannot be opened ends the test")]

use forklore_conformance::{Directory, Handle, suite};
use forklore_sqlite::{Options, SqliteStore};

suite!(
    Directory::new(|path| {
        Handle::new(SqliteStore::open(&path.join("store.db"), Options::default()).unwrap())
    });
    durable, processes, maintenance, sources, attachments, shared_attachments
);

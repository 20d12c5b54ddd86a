//! Runs the conformance suite with almost every event sealed, because its cases are too short to
//! fill chunks of 64.
#![allow(clippy::unwrap_used, reason = "a store that cannot be opened ends the test")]

use forklore_conformance::{Directory, Handle, suite};
use forklore_sqlite::{Options, SqliteStore};

suite!(
    Directory::new(|path| {
        let options = Options { chunk_events: 2, ..Options::default() };
        Handle::new(SqliteStore::open(&path.join("store.db"), options).unwrap())
    });
    durable, processes, maintenance, sources
);

//! Runs the conformance suite with chunks of two events, so that almost every event is sealed. Its
//! cases are too short to fill chunks of 64 events.
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

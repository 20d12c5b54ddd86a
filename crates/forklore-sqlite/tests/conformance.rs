//! The store keeps the contract, with every capability there is.
#![allow(clippy::unwrap_used, reason = "a store that cannot be opened ends the test")]

use forklore_sqlite::{Options, SqliteStore};
use forklore_store::conformance::{Directory, Handle, suite};

suite!(
    Directory::new(|path| {
        Handle::with_upkeep(SqliteStore::open(&path.join("store.db"), Options::default()).unwrap())
    });
    durable, processes, upkeep
);

//! The store keeps the contract, with every capability there is.
#![allow(clippy::unwrap_used, reason = "a store that cannot be opened ends the test")]

use forklore_files::{FilesStore, Options};
use forklore_store::conformance::{Directory, Handle, suite};

suite!(
    Directory::new(|path| {
        Handle::with_upkeep(FilesStore::open(&path.join("store"), Options::default()).unwrap())
    });
    durable, processes, upkeep
);

//! The store keeps the contract, with every capability there is.
#![allow(clippy::unwrap_used, reason = "a store that cannot be opened ends the test")]

use forklore_conformance::{Directory, Handle, suite};
use forklore_sqlite::{Options, SqliteStore};

suite!(
    Directory::new(|path| {
        let store = SqliteStore::open(&path.join("store.db"), Options::default()).unwrap();
        let attachments = store.attachments();
        Handle::with_maintenance(store).and_attachments(attachments)
    });
    durable, processes, maintenance, attachments, shared_attachments
);

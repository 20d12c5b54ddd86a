//! The store keeps the contract, with every capability there is.
#![allow(clippy::unwrap_used, reason = "a store that cannot be opened ends the test")]

use forklore_conformance::{Directory, Handle, suite};
use forklore_graph::GraphStore;

suite!(
    Directory::new(|path| {
        let store = GraphStore::open(&path.join("store"), None, &[]).unwrap();
        let attachments = store.attachments();
        Handle::with_maintenance(store).and_attachments(attachments)
    });
    durable, processes, maintenance, attachments, shared_attachments
);

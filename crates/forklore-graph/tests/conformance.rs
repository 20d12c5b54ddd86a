//! Runs the conformance suite of all capabilities on the graph store.
#![allow(clippy::unwrap_used, reason = "a store that cannot be opened ends the test")]

use forklore_conformance::{Directory, Handle, suite};
use forklore_graph::GraphStore;

suite!(
    Directory::new(|path| {
        Handle::new(GraphStore::open(&path.join("store"), None, &[]).unwrap())
    });
    durable, processes, maintenance, sources, attachments, shared_attachments
);

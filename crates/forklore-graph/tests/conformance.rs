//! Runs the conformance suite of all capabilities on the graph store.
#![allow(clippy::unwrap_used, reason = "a store that cannot be opened ends the test")]

use std::path::Path;

use forklore_conformance::{Directory, Handle, suite};
use forklore_core::SessionId;
use forklore_graph::GraphStore;

suite!(
    Directory::new(|path| {
        Handle::new(GraphStore::open(&path.join("store"), None, &[]).unwrap())
    })
    .losing(lose);
    durable, processes, maintenance, sources, attachments, shared_attachments, operations,
    shared_operations, loss
);

/// Removes the files of a session.
fn lose(path: &Path, session: &SessionId) {
    for workspace in std::fs::read_dir(path.join("store/journal/workspaces")).unwrap() {
        for name in [format!("{session}.jsonl"), format!("{session}.prefix.jsonl")] {
            let _ = std::fs::remove_file(workspace.as_ref().unwrap().path().join(name));
        }
    }
}

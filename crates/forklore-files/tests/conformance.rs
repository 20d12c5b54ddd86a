//! Runs the conformance suite, with all capabilities, on the store of JSON lines.
#![allow(clippy::unwrap_used, reason = "a store that cannot be opened ends the test")]

use std::path::Path;

use forklore_conformance::{Directory, Handle, suite};
use forklore_core::SessionId;
use forklore_files::{FilesStore, Options};

suite!(
    Directory::new(|path| {
        Handle::new(FilesStore::open(&path.join("store"), Options::default()).unwrap())
    })
    .losing(lose);
    durable, processes, maintenance, sources, attachments, shared_attachments, operations,
    shared_operations, loss
);

/// Removes the files of a session.
fn lose(path: &Path, session: &SessionId) {
    for workspace in std::fs::read_dir(path.join("store/workspaces")).unwrap() {
        for name in [format!("{session}.jsonl"), format!("{session}.prefix.jsonl")] {
            let _ = std::fs::remove_file(workspace.as_ref().unwrap().path().join(name));
        }
    }
}

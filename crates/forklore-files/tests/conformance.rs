//! Runs the conformance suite, with all capabilities, on the store of JSON lines.
#![allow(clippy::unwrap_used, reason = "a store that cannot be opened ends the test")]

use forklore_conformance::{Directory, Handle, suite};
use forklore_files::{FilesStore, Options};

suite!(
    Directory::new(|path| {
        Handle::new(FilesStore::open(&path.join("store"), Options::default()).unwrap())
    });
    durable, processes, maintenance, sources, attachments, shared_attachments
);

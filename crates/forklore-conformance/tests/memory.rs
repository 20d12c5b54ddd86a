//! The memory store keeps the whole contract.

use forklore_conformance::{Handle, suite};
use forklore_store::memory::MemoryStore;

fn handle() -> Handle {
    let store = MemoryStore::default();
    let attachments = store.attachments();
    Handle::with_maintenance(store).and_attachments(attachments)
}

suite!(handle; maintenance, attachments);

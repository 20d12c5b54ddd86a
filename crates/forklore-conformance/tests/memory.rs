//! Tests that the memory store fulfils the whole contract.

use std::sync::Arc;

use forklore_conformance::{Factory, Handle, TestStore, suite};
use forklore_core::SessionId;
use forklore_store::memory::MemoryStore;

/// Creates stores in memory that can lose sessions.
struct InMemory;

struct Location(Arc<MemoryStore>);

impl Factory for InMemory {
    fn fresh(&self) -> Box<dyn TestStore> {
        Box::new(Location(Arc::default()))
    }
}

impl TestStore for Location {
    fn open(&self) -> Handle {
        Handle::shared(self.0.clone())
    }

    fn can_lose(&self) -> bool {
        true
    }

    fn lose(&self, session: &SessionId) {
        self.0.lose(session);
    }
}

suite!(InMemory; maintenance, sources, attachments, operations, loss);

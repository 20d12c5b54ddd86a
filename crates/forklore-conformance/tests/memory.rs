//! Tests that the memory store fulfils the whole contract.

use forklore_conformance::{Handle, suite};
use forklore_store::memory::MemoryStore;

suite!(|| Handle::new(MemoryStore::default()); maintenance, sources, attachments);

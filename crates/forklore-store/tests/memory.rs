//! The memory store keeps the whole contract.

use forklore_store::conformance::{Handle, suite};
use forklore_store::memory::MemoryStore;

suite!(|| Handle::with_upkeep(MemoryStore::default()); upkeep);

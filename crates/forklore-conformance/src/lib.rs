//! The contract of a store, as numbered cases that any store implementation can run.
//!
//! Three lines in a test file create one test per case, named after what the case checks:
//!
//! ```no_run
//! use forklore_conformance::{Directory, Handle, suite};
//! # use forklore_store::memory::MemoryStore;
//! # struct MyStore; impl MyStore { fn open(_: &std::path::Path) -> MemoryStore { Default::default() } }
//! suite!(
//!     Directory::new(|path| Handle::new(MyStore::open(path)));
//!     durable, processes, maintenance
//! );
//! # fn main() {}
//! ```
//!
//! The list after the semicolon contains the [`Capability`]s that the store offers. Base cases are
//! always created; cases of other capabilities are not. A store that does not live in a directory
//! implements [`Factory`] itself; for a memory store a closure suffices. [`run`] runs the cases
//! inside one test or program and returns a report that prints as a table.
//!
//! `docs/conformance.md` in the repository explains this in more detail and describes each group of
//! cases.
//!
//! The cases depend on no clock and no randomness. Only the state machine (group `machine`) is
//! random: it prints its seed. `FORKLORE_SEED` repeats a run, and `FORKLORE_CASES` sets the number
//! of histories.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "these are tests: a broken expectation ends the case"
)]

pub mod events;
pub mod scene;

mod cases;
mod factory;
mod machine;
mod process;
pub mod race;
mod report;
mod suite;

pub use cases::{CASES, Capability, Case};
pub use factory::{Directory, Factory, Handle, TestStore};
pub use report::{Outcome, Report, run, run_one};
pub use scene::Scene;

#[doc(inline)]
pub use crate::__forklore_suite as suite;

//! The contract of a store, as numbered cases that anyone's store can run.
//!
//! Three lines in a test file make a test of each case, named after what it says:
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
//! What stands behind the semicolon are the [`Capability`]s that the store offers; cases of a
//! capability that is not offered are not made, base cases always are. A store that does not live
//! in a directory implements [`Factory`] itself; one that lives in memory is a closure. [`run`]
//! does the same inside one test or program and prints a table.
//!
//! `docs/conformance.md` in the repository says the same at length, and what each group of cases
//! is about.
//!
//! The cases need no clock and no randomness. The state machine (group `machine`) prints its seed;
//! `FORKLORE_SEED` repeats a run and `FORKLORE_CASES` says how many histories to try.
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

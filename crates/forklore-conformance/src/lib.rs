//! The contract of a store, as numbered cases that any store implementation can run.
//!
//! Use it as a dev-dependency of a crate that implements [`Store`](forklore_store::Store). A store
//! that passes the cases works under every operation of the engine. To use a store, this crate is
//! not needed.
//!
//! - [`suite!`](suite) creates one test per case, named after what the case checks.
//! - [`run`] runs the cases inside one test or program and returns a [`Report`] that prints as a
//!   table.
//! - [`Factory`] creates the stores under test. [`Directory`] is the one for stores that live in a
//!   directory; for a store in memory, a closure suffices.
//! - [`Capability`] is an optional part of the contract. The list after the semicolon of `suite!`
//!   names those that the store offers. Base cases are always created; cases of other capabilities
//!   are not.
//!
//! ```
//! use forklore_conformance::{CASES, Handle, run, suite};
//! use forklore_store::memory::MemoryStore;
//!
//! // In `tests/conformance.rs`, this line creates one test per case.
//! suite!(|| Handle::new(MemoryStore::default()); maintenance, sources, attachments);
//!
//! // In a program: run the cases, here the first ten, and look at their outcomes.
//! # fn main() {
//! let first = CASES.get(..10).unwrap_or(CASES);
//! let report = run(&|| Handle::new(MemoryStore::default()), first);
//! println!("{report}");
//! assert_eq!(report.failures().count(), 0);
//! # }
//! ```
//!
//! The cases depend on no clock and no randomness. Only the state machine (group `machine`) is
//! random: it prints its seed. `FORKLORE_SEED` repeats a run, and `FORKLORE_CASES` sets the number
//! of histories.
//!
//! The cases test no speed and inject no faults of the disk. `docs/conformance.md` in the
//! repository describes each group of cases.
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

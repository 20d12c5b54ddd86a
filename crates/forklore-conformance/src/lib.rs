//! The contract that every implementation of a store must fulfil, as numbered test cases.
//!
//! Use this crate as a dev-dependency of a crate that implements [`Store`](forklore_store::Store).
//! If a store passes the cases, every operation of the engine works on it. Programs that only use a
//! store do not need this crate.
//!
//! - [`suite!`](suite) creates one test per case. The name of the test says what the case checks.
//! - [`run`] runs the cases inside one test or program. It returns a [`Report`], which can be
//!   printed as a table.
//! - [`Factory`] creates the stores under test. [`Directory`] is a factory for stores in a
//!   directory. For a store in memory, a closure suffices.
//! - [`Capability`] is an optional part of the contract. The list after the semicolon of `suite!`
//!   contains the capabilities that the store offers. `suite!` creates the tests of the base cases
//!   and of these capabilities, and no others.
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
//! The cases depend on no clock and no randomness, except the group `machine`, which performs
//! random operations and prints its seed. To repeat a run, set the environment variable
//! `FORKLORE_SEED` to the printed seed. The variable `FORKLORE_CASES` sets the number of random
//! histories.
//!
//! [`proxy::Proxy`] cuts the connections of a store that is on a server; the cases do not.
//!
//! The cases do not measure speed and do not inject disk faults. `docs/conformance.md` in the
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
pub mod proxy;
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

//! Standing indexes: what is computed from a store's sessions, in a SQLite file of its own in the
//! cache folder of the store.
//!
//! Use this crate to write an index. `forklore-graph` and `forklore-search` are two of them.
//!
//! An index is a projection and never a source of truth. It is brought up to date before each
//! question, by as much as the sessions changed since the last one. What it contains and how far it
//! has followed the sessions is written in one transaction, so that a process may be killed at any
//! moment. Damage has one remedy: the index is removed and built again.
//!
//! - [`Layout`] describes an index: the name of its file, and its tables.
//! - [`IndexFile`] is an open index. [`IndexFile::follow`] reports the sessions that changed since
//!   the index last followed the store.
//! - [`answer`] answers a question from the index of a store, and replaces a damaged index.

mod answer;
mod fault;
mod file;
mod follow;
mod layout;
mod steps;
mod witness;

pub use answer::{answer, folder_of};
pub use fault::{Fault, Result};
pub use file::{IndexFile, State, state};
pub use layout::Layout;

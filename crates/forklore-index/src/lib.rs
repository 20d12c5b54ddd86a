//! Indexes of a store's sessions. An index contains data that was computed from the sessions. It is
//! a separate SQLite file in the store's cache folder.
//!
//! Use this crate to write an index. The crates `forklore-graph` and `forklore-search` each have
//! one.
//!
//! An index is only a projection: the sessions themselves are in the store. Before each question,
//! the index is brought up to date with the changes since the last question. One transaction writes
//! both the new contents of the index and its position in the store's feed, so a process may be
//! killed at any moment. A damaged index is removed and built again.
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

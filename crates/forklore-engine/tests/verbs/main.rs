//! Tests of the engine's operations. docs/acceptance.md lists the rules that these tests check.
//!
//! Each case runs on the memory store, the files store and SQLite, and compares whole values. The
//! tests of `forklore-graph` run the same cases on a graph store.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "these are tests: a broken expectation ends the case"
)]

mod anchor;
mod append;
mod attach;
mod bring;
mod calls;
mod circle;
mod content;
mod cut;
mod delete;
mod following;
mod ids;
mod lineage;
mod operations;
mod plan;
mod reading;
mod redact;
mod reference;
mod retention;
mod round_trips;
mod stores;
mod summary;
mod transfer;
mod trash;
mod tree;
mod world;

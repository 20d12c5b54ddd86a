//! Snapshots of real folders with the real git.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "these are tests: a broken expectation ends the case"
)]

mod collect;
mod compare;
mod full;
mod git;
mod hostile;
mod kills;
mod merge;
mod property;
mod rules;
mod world;

//! Tests of conversations with a scripted model, over a store in memory.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "these are tests: a broken expectation ends the case"
)]

mod attaching;
mod finding;
mod others;
mod rewinding;
mod talking;
mod world;

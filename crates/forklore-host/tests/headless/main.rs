//! Tests of conversations without a terminal, on a store in memory.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "these are tests: a broken expectation ends the case"
)]

mod approving;
mod configured;
mod exploring;
mod manifest;
mod talking;
mod world;

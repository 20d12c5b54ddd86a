//! What is true of this store alone; what all stores keep is in the conformance suite.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a broken expectation ends the test"
)]

mod access;
mod cost;
mod erasure;
mod layout;
mod scratch;
mod strange;
mod torn;

//! Tests of what is specific to this store. The conformance suite tests what all stores promise.
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

//! Tests of properties that only this store has. The conformance suite tests those that all stores
//! share.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a broken expectation ends the test"
)]

mod access;
mod busy_gc;
mod cost;
mod erasure;
mod layout;
mod meanwhile;
mod operations;
mod redacting;
mod scratch;
mod strange;
mod torn;
mod undone;
mod watched;

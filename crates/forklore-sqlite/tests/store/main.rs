//! Tests of what is specific to SQLite. The conformance suite tests everything that all stores
//! promise.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "these are tests: a broken expectation ends them"
)]

mod access;
mod close;
mod crowd;
mod damage;
mod depth;
mod erasure;
mod joined;
mod scratch;
mod sealed;
mod wal;

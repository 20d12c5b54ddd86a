//! Tests of properties that only the SQLite store has. The conformance suite tests those that all
//! stores share.
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
mod operations;
mod scratch;
mod sealed;
mod wal;

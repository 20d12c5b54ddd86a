//! A store over HTTP, in front of real stores and real servers on loopback.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a broken expectation ends the test"
)]

mod conformance;
mod cuts;
mod refusals;
mod restart;
mod server;

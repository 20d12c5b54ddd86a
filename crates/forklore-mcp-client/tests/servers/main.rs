//! Tools over servers: real ones of other people, and one of our own that does everything wrong.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "these are tests: a broken expectation ends the case"
)]

mod broken;
mod config;
mod everything;
mod given;
mod http;
mod policy;
mod real;
mod turn;

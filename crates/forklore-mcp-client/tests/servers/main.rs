//! Tools of servers: real ones by others, and one of our own that misbehaves.

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

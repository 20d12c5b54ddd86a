//! Tests of tools of MCP servers: real servers of other projects, and test doubles that misbehave.

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

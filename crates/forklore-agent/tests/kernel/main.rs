//! Tests of the kernel over a scripted model: what it writes and announces, and in which order.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "these are tests: a broken expectation ends the case"
)]

mod callers;
mod children;
mod context;
mod delegates;
mod each_store;
mod hooks;
mod images;
mod interruption;
mod kill;
mod leases;
mod lifecycle;
mod limits;
mod partial;
mod permissions;
mod scripted;
mod streams;
mod stuck_loop;
mod subagents;
mod summaries;
mod trouble;
mod turns;
mod usage;
mod wire;
mod world;

//! Tests of searches over memory, SQLite and files stores.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "these are tests: a broken expectation ends the case"
)]

mod answers;
mod blame;
mod changes;
mod damage;
mod hostile;
mod kill;
mod property;
mod world;

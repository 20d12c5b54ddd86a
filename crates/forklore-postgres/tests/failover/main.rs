//! Kills and disturbs the servers of a cluster. Whatever was acknowledged is there afterwards, once
//! and in order, and every other call ends in an error that says what is known. And goes back to an
//! earlier moment of a cluster.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a broken expectation ends the test"
)]

mod history;
mod hosts;
mod patroni;
mod recovery;
mod rounds;
mod storms;
mod waits;
mod writers;

use forklore_pgserver::Cluster;

/// Starts a cluster of three servers.
fn cluster() -> Cluster {
    Cluster::start().unwrap_or_else(|none| panic!("{none}"))
}

//! Tests of graphs and graph stores: of a small family, and with hostile content.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "these are tests: a broken expectation ends the case"
)]

mod family;
mod forms;
mod index;
mod live_graph;
mod picture;
mod python;
mod queries;
mod refused;
mod shared;
mod trails;

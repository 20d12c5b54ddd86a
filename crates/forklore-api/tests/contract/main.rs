//! Tests of the contract through its public API.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod bad_input;
mod defaults;
#[cfg(feature = "schema")]
mod fits;
#[cfg(feature = "schema")]
mod reference;
mod round_trip;
#[cfg(feature = "schema")]
mod verbs;

//! The program as its users meet it, each test in a home and a store of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod attach;
mod attack;
mod beside;
mod chat;
mod completions;
mod contract;
mod deletes;

//! Tests of sessions with a scripted model, and of the spans that a collector receives from them.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "these are tests, and they use a part of what the kernel's tests use"
)]

mod collector;
#[path = "../../../forklore-agent/tests/kernel/scripted.rs"]
mod scripted;
mod traced;
mod trouble;
#[path = "../../../forklore-agent/tests/kernel/world.rs"]
mod world;

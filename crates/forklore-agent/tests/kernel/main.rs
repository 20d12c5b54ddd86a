//! The kernel over a scripted model: what it writes, in which order, and what it tells.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on stops")]

mod delegates;
mod hooks;
mod lifecycle;
mod permissions;
mod scripted;
mod trouble;
mod turns;
mod world;

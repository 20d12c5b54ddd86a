//! The kernel of an agent whose sessions fork.
//!
//! It is mechanism only: sessions that run, turns, notifications, hooks, and the two ports through
//! which a turn reaches the world, [`Model`](model::Model) and [`Tools`](tool::Tools). Which model,
//! which tools, how a child's configuration is merged and who is asked for permission stay with the
//! application.

pub mod model;
pub mod tool;

//! The kernel of an agent whose sessions fork.
//!
//! It is mechanism only: [sessions that run](AgentSession), turns, [notifications](notify),
//! [hooks](hook), and the ports through which a turn reaches the world, [`Model`](model::Model),
//! [`Tools`](tool::Tools) and [`Approve`](approve::Approve). Which model, which tools, how a child's
//! configuration is merged and who is asked for permission stay with the application.
//!
//! A [`Kernel`] is what the sessions of one process share: the engine over a store, hooks, sinks.
//! An [`AgentSession`] is one session that can run turns. What a turn says is appended to the log
//! as it happens, so a process that dies leaves a session that another one opens and goes on with.

pub mod approve;
mod cache_key;
pub mod config;
mod context;
mod delegation;
pub mod error;
mod gauge;
mod handle;
pub mod hook;
mod kernel;
mod lease_owner;
pub mod limits;
pub mod media;
pub mod model;
pub mod notify;
mod panic;
pub mod permissions;
mod session;
pub mod subagents;
pub mod tool;
mod turn;

pub use cache_key::cache_key;
pub use config::{Budget, Prices, SessionConfig, Settings};
pub use delegation::{Delegate, Delegation};
pub use error::{Error, Result};
pub use gauge::Gauge;
pub use kernel::{Kernel, KernelBuilder};
pub use notify::event::TurnUsage;
pub use session::{AgentSession, Branched, Delegated, NewSession, Prompt};
pub use turn::{Compacted, Status, Turn};

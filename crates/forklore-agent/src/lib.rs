//! The kernel of an agent whose sessions can fork.
//!
//! It contains mechanism only: [sessions that run](AgentSession), turns, [notifications](notify),
//! [hooks](hook), and the ports through which a turn reaches the outside world:
//! [`Model`](model::Model), [`Tools`](tool::Tools) and [`Approve`](approve::Approve). The
//! application decides which model and tools to use, how a child's configuration is merged, and who
//! grants permission.
//!
//! A [`Kernel`] is shared by the sessions of one process: the engine over a store, hooks and sinks.
//! An [`AgentSession`] is one session that can run turns. A turn appends its output to the log as
//! it arrives, so if the process dies, another process can open the session and continue it.

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

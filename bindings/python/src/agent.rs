//! The agent kernel as Python classes.
//!
//! Turns run on threads of this module. Models, tools, hooks and approvers are Python objects: this
//! module calls a method of theirs with a [`Reply`](reply::Reply), which returns at once, and the
//! package runs the work on the event loop that awaits the turn. So Python code never runs on threads
//! of this module, and no turn waits for a loop while it owns the interpreter's lock.

mod approve;
mod config;
mod failure;
mod hook;
mod kernel;
mod model;
mod reply;
mod runtime;
mod session;
mod sink;
mod tools;
mod work;

pub(crate) use kernel::Kernel;
pub(crate) use model::Pieces;
pub(crate) use reply::Reply;
pub(crate) use runtime::end_agents;
pub(crate) use session::Session;
pub(crate) use tools::Call;
pub(crate) use work::Work;

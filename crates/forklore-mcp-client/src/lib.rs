//! Tools for the kernel, from MCP servers that the user names.
//!
//! [`McpTools`] is [`forklore_agent::tool::Tools`] over servers that run as child processes or
//! answer over HTTP; [`ServerConfig`] is how the user's configuration names them, and [`Rules`]
//! which calls are carried out, refused or asked about. A server is somebody else's program: what
//! it says is bounded, nothing that goes wrong with it ends a turn, and it never outlives the set.

mod config;
mod http;
mod name;
mod outcome;
mod policy;
mod said;
mod secret;
mod server;
mod set;
mod stdio;

pub use config::{ConfigError, ServerConfig};
pub use name::{NameError, Qualified, ServerName};
pub use policy::{Pattern, PatternError, Rules, UserPolicy};
pub use server::StartError;
pub use set::{Listed, McpTools, Problem};

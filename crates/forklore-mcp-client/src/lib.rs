//! An MCP client: tools for the kernel, from the MCP servers of the user's configuration.
//!
//! [`McpTools`] is [`forklore_agent::tool::Tools`] over servers that run as child processes or
//! answer over HTTP; [`ServerConfig`] is how the user's configuration names them, and [`Rules`]
//! which calls run, are refused or need approval. A server is a foreign program: its output is
//! bounded, its failures never end a turn, and it never outlives the set.

mod config;
mod http;
mod name;
mod outcome;
mod policy;
mod redact;
mod server;
mod set;
mod stderr_tail;
mod stdio;

pub use config::{ConfigError, ServerConfig};
pub use name::{NameError, Qualified, ServerName};
pub use policy::{Pattern, PatternError, Rules, UserPolicy};
pub use server::StartError;
pub use set::{Listed, McpTools, Problem};

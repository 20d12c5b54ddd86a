//! An MCP client: tools for the kernel, from the MCP servers of the user's configuration.
//!
//! [`McpTools`] implements [`forklore_agent::tool::Tools`] with servers that run as child processes
//! or answer over HTTP. [`ServerConfig`] is a server in the user's configuration, and [`Rules`]
//! determine which calls are allowed, denied or need approval. A server is untrusted: its output is
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

//! An MCP server with which agents find, read and fork their own earlier sessions.
//!
//! Use this crate to offer the sessions of a store to any program that speaks the Model Context
//! Protocol. The server only reads, unless its [`Options`] allow single verbs. It cannot delete.
//!
//! - [`McpServer`] has the tools, resources and prompts, over an [`Engine`](forklore_engine::Engine).
//! - [`serve_stdio`] serves one client over standard input and output, until the client goes away.
//! - [`http_service`] returns a tower service (streamable HTTP), which a web server mounts.
//!
//! ```
//! use std::sync::Arc;
//!
//! use forklore_engine::Engine;
//! use forklore_mcp::{McpServer, Options};
//! use forklore_store::memory::MemoryStore;
//!
//! let engine = Engine::new(Arc::new(MemoryStore::default()));
//! let server = McpServer::new(engine, Options::default());
//! assert!(server.tools().iter().any(|tool| tool.name == "search"));
//! assert!(server.tools().iter().all(|tool| tool.name != "fork"));
//! ```
//!
//! Text of sessions is hostile. Every answer is JSON in which the text of sessions is only in
//! fields whose names begin with `untrusted_`, with control and bidirectional characters escaped.
//! An answer has at most [`ANSWER_CHARS`] characters, and names its next page. The server does not
//! recognize secrets in sessions, and does not authenticate clients: over HTTP, the web server does.

mod answer;
mod feed;
mod handler;
mod http;
mod instructions;
mod options;
mod prompts;
mod refusal;
mod resources;
mod scope;
mod session;
mod since;
mod stdio;
mod subscriptions;
mod tool;

pub use answer::ANSWER_CHARS;
pub use handler::McpServer;
pub use http::{HttpOptions, HttpService, http_service};
pub use options::{Allow, NotAnAllowance, Options};
pub use stdio::{ServeError, serve_stdio};

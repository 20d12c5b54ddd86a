//! The verbs of forklore with requests and answers as JSON, for bindings to other languages.
//!
//! Use this crate to write a binding. A program in Rust uses `forklore` instead, whose methods take
//! and return types. The packages for Python and TypeScript are thin layers over this crate: they add
//! the names of the verbs, the types, and what the language needs for threads and errors.
//!
//! - [`Connection`] is an open store. [`Connection::call`] executes a
//!   [`Request`](forklore_api::Request) of the contract and returns its answer.
//! - [`Rows`] are the answers of verbs that have one line for each item, such as `log`.
//! - [`ClaudeSessions`] is the core of the session store for the Claude Agent SDK.
//! - A [`Core`] uses the store beyond one call, such as the core of a face for a framework.
//! - [`Failure`] is why a verb failed, as the contract's [`ErrorObject`](forklore_api::ErrorObject).
//!
//! ```
//! use forklore_bindings::Connection;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = Connection::open(Some("memory:"))?;
//! let made = store.call(r#"{"new": {"id": "plan", "workspace": "/work/demo"}}"#)?;
//! assert!(made.starts_with(r#"{"session":{"id":"plan""#));
//!
//! let failure = store.call(r#"{"show": {"session_id": "other"}}"#).unwrap_err();
//! assert_eq!(failure.kind.name(), "not_found");
//! # Ok(())
//! # }
//! ```
//!
//! The crate calls no model and no tool, prints nothing, and starts no runtime.

mod answer;
mod attachment;
mod claude;
mod connection;
mod export;
mod failure;
mod import;
mod open_store;
mod rows;
mod stats;

pub use claude::{ClaudeKey, ClaudeSessions, Listed, NewFork, Summary, SummaryOf};
pub use connection::Connection;
pub use failure::{Failure, Result};
pub use open_store::Core;
pub use rows::Rows;

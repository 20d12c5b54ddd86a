//! Models over HTTP, for the kernel in `forklore-agent`: everything that speaks the OpenAI form
//! (at any address), Anthropic, Gemini and Ollama.
//!
//! A [`ModelConfig`] says which model, where, and in which environment variable its key is; an
//! [`HttpModel`] answers requests. What is sent is written here, field by field in a fixed order,
//! because a fork lives from it: the requests of a child and of its parent have to begin with the
//! same bytes (SPEC 15). HTTP, TLS and the reading of event streams are left to crates.

mod answer;
mod config;
mod events;
mod failure;
mod form;
mod http;
mod key;
mod model;
mod said;
mod shared;

pub use config::{ModelConfig, Provider};
pub use key::{KeyVariable, NoVariable};
pub use model::HttpModel;
pub use shared::{SharedBytes, estimate_tokens};

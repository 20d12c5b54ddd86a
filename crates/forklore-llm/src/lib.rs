//! HTTP model clients for the kernel in `forklore-agent`: OpenAI-compatible servers at any address,
//! Anthropic, Gemini and Ollama.
//!
//! A [`ModelConfig`] names the model, its address and the environment variable that contains the
//! API key. An [`HttpModel`] sends the requests. This crate writes requests field by field in a
//! fixed order: the requests of a fork and of its parent must begin with the same bytes, so that
//! the provider's prompt cache serves both (docs/semantics.md, Model requests). Dependencies do
//! HTTP, TLS and the parsing of event streams.

mod config;
mod content;
mod events;
mod failure;
mod http;
mod key;
mod model;
mod request;
mod response;
mod shared;

pub use config::{ModelConfig, Provider};
pub use key::{KeyVariable, NoVariable};
pub use model::HttpModel;
pub use shared::{SharedBytes, estimate_tokens};

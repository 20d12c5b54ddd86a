//! HTTP model clients for the kernel in `forklore-agent`: OpenAI-compatible servers at any address,
//! Anthropic, Gemini and Ollama.
//!
//! Use this crate to give an agent a model over HTTP. For any other model, implement
//! [`Model`](forklore_agent::model::Model) yourself. `forklore-host` creates the models of the
//! user's configuration.
//!
//! - A [`ModelConfig`] names the model, its [`Provider`], its address and the environment variable
//!   that contains the API key.
//! - An [`HttpModel`] sends the requests and streams the responses.
//! - [`SharedBytes`] measures how much of a request body a provider's prompt cache can serve.
//!
//! ```
//! use forklore_agent::media::Attached;
//! use forklore_agent::model::{Model as _, Options, Request};
//! use forklore_core::{Message, Role};
//! use forklore_llm::{HttpModel, ModelConfig, Provider, SharedBytes};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = HttpModel::new(ModelConfig::new(Provider::Anthropic, "claude-sonnet-4-5"))?;
//! let request = |prompt: &str| Request {
//!     messages: vec![
//!         Message::text(Role::User, "plan A or plan B?"),
//!         Message::text(Role::Assistant, "both would do"),
//!         Message::text(Role::User, prompt),
//!     ],
//!     shared: 2,
//!     forks: vec![2],
//! #   attached: Attached::default(), tools: Vec::new(), cache_key: "family".to_owned(),
//! #   options: Options::default(),
//!     // ... and no tools, attachments or options.
//! };
//! // `model.stream(&request)` sends exactly this body.
//! let parent = model.body(&request("let us take A"))?;
//! let child = model.body(&request("let us take B"))?;
//!
//! let common = SharedBytes::between(&parent, &child).shared;
//! let common = String::from_utf8_lossy(child.get(..common).unwrap_or_default());
//! assert!(common.contains("both would do"), "a prompt cache serves the history for both");
//! # Ok(())
//! # }
//! ```
//!
//! This crate writes the fields of a request in a fixed order. So the requests of a fork and of its
//! parent begin with the same bytes, and the provider's prompt cache serves both
//! (docs/semantics.md, Model requests). Dependencies implement HTTP, TLS and the parsing of event
//! streams. The kernel, not this crate, retries failed requests, runs tools and stores events.

mod config;
mod content;
mod events;
mod failure;
mod http;
mod key;
mod local;
mod model;
mod request;
mod response;
mod shared;

pub use config::{ModelConfig, Provider};
pub use key::{KeyVariable, NoVariable};
pub use local::{LOCAL_PORTS, Listening, listening, listening_blocking};
pub use model::HttpModel;
pub use shared::{SharedBytes, estimate_tokens};

//! How a request is written for each kind of server.
//!
//! What requests of a family share stands first and in a fixed order: the model, the tools, the
//! history. What may differ from request to request stands behind it. Every message is written
//! from what it says alone, so a longer history only adds bytes at its end.

pub(crate) mod anthropic;
pub(crate) mod gemini;
pub(crate) mod openai;

use std::borrow::Cow;

use forklore_agent::model::{ModelName, Request};
use forklore_core::Data;

use crate::config::{ModelConfig, Provider};

/// The bytes of a request.
pub(crate) fn body(
    config: &ModelConfig,
    name: &ModelName,
    request: &Request,
) -> Result<Vec<u8>, serde_json::Error> {
    match config.provider {
        Provider::OpenAi | Provider::Ollama => openai::body(config, name, request),
        Provider::Anthropic => anthropic::body(config, name, request),
        Provider::Gemini => gemini::body(config, name, request),
    }
}

/// Arguments as the object that Anthropic and Gemini ask for: a model may have written anything.
fn object(arguments: &Data) -> Cow<'_, Data> {
    if arguments.get().starts_with('{') {
        return arguments.readable();
    }
    Cow::Owned(Data::from_checked(format!("{{\"value\":{}}}", arguments.readable().get())))
}

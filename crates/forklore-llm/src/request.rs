//! Requests in the format of each provider.
//!
//! The prefix that the requests of a family share comes first and in a fixed order: the model, the
//! tools, the history. Fields that may differ between requests follow. The bytes of a message
//! depend only on that message, so a longer history only adds bytes at its end.

pub(crate) mod anthropic;
pub(crate) mod gemini;
pub(crate) mod openai;

use std::borrow::Cow;

use forklore_agent::model::{ModelName, Request};
use forklore_core::Data;

use crate::config::{ModelConfig, Provider};

/// Serializes a request in the format of the configured provider.
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

/// Returns arguments as the JSON object that Anthropic and Gemini require. A model may write any
/// JSON value, so other values become the field `value` of an object.
fn object(arguments: &Data) -> Cow<'_, Data> {
    if arguments.get().starts_with('{') {
        return arguments.readable();
    }
    Cow::Owned(Data::from_checked(format!("{{\"value\":{}}}", arguments.readable().get())))
}

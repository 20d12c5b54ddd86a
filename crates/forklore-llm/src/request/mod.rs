//! Requests, in the format of each provider.
//!
//! The shared prefix of a family's requests comes first and in a fixed order: the model, the tools,
//! the history. Fields that may differ between requests follow. The bytes of a message depend on that
//! message only, so a longer history only adds bytes at its end.

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

/// Returns arguments as the object that Anthropic and Gemini require; a model may write any JSON.
fn object(arguments: &Data) -> Cow<'_, Data> {
    if arguments.get().starts_with('{') {
        return arguments.readable();
    }
    Cow::Owned(Data::from_checked(format!("{{\"value\":{}}}", arguments.readable().get())))
}

//! Writes requests in the format of each provider.
//!
//! A request begins with the prefix that the requests of a family share: the model, the tools and
//! the history, in this order. Fields that may differ between requests follow. The bytes of a
//! message depend only on that message, so a longer history only adds bytes at the end of the
//! history.

pub(crate) mod anthropic;
pub(crate) mod gemini;
pub(crate) mod openai;

use std::borrow::Cow;

use forklore_agent::model::{ModelName, Request};
use forklore_core::Data;

use crate::config::{ModelConfig, Provider};

/// Serializes the body of a request in the format of the configured provider.
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

/// Returns the arguments of a call as a JSON object, which Anthropic and Gemini require. A model
/// may write any JSON value, so a value that is no object becomes the field `value` of an object.
fn object(arguments: &Data) -> Cow<'_, Data> {
    if arguments.get().starts_with('{') {
        return arguments.readable();
    }
    Cow::Owned(Data::from_checked(format!("{{\"value\":{}}}", arguments.readable().get())))
}

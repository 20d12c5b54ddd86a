//! Events about requests to models and their outcomes.

use serde::{Deserialize, Serialize};

/// A model request that is about to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProviderRequest {
    /// The provider that serves the model.
    pub provider: String,
    /// The name of the model.
    pub model: String,
    /// The number of this attempt to send the request, from 1.
    pub attempt: u32,
    /// The number of messages in the request.
    pub messages: u64,
    /// The number of messages at the start of the request that the session shares with its parent.
    pub shared: u64,
    /// The purpose of the request, for example `summary`. `null` for an ordinary turn.
    pub purpose: Option<String>,
}

/// A complete answer of a model.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProviderAnswer {
    /// The provider that serves the model.
    pub provider: String,
    /// The name of the model.
    pub model: String,
    /// The token counts of the request and the answer.
    pub usage: TokenUsage,
    /// Why the answer ended.
    pub stop_reason: EndReason,
    /// The id that the provider gave the request.
    pub request_id: Option<String>,
}

/// A failed attempt to send a model request, which will be repeated.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProviderRetry {
    /// The provider that serves the model.
    pub provider: String,
    /// The name of the model.
    pub model: String,
    /// The number of the failed attempt, from 1.
    pub attempt: u32,
    /// Why the attempt failed.
    pub error: String,
    /// The pause before the next attempt, in milliseconds.
    pub pause_ms: Option<u64>,
}

/// A model request that failed for good.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProviderFailure {
    /// The provider that serves the model.
    pub provider: String,
    /// Why the last attempt failed.
    pub error: String,
    /// The number of attempts.
    pub attempts: u32,
}

/// Why an answer ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The model finished its answer.
    #[default]
    Done,
    /// The model requested tool calls and waits for their results.
    Calls,
    /// The answer reached the token limit.
    Length,
    /// The provider withheld the answer.
    Refused,
    /// Another reason, as the provider named it.
    Other(String),
}

/// Token counts of a model request and its answer. A count is `null` if the provider does not
/// report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenUsage {
    /// Tokens of the request, including cached tokens.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// Tokens of the request that were read from a cache.
    pub cached: Option<u64>,
    /// Tokens of the request that were written to a cache.
    pub cache_written: Option<u64>,
}

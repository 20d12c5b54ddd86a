//! Events about requests to models and their outcomes.

use serde::{Deserialize, Serialize};

/// Data of the event `provider:request`: a model request is about to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProviderRequest {
    /// The provider that serves the model.
    pub provider: String,
    /// The name of the model that receives the request.
    pub model: String,
    /// The number of this attempt to send the model request, from 1.
    pub attempt: u32,
    /// The number of messages in the model request.
    pub messages: u64,
    /// How many of the request's first messages the session inherited from its parent. The parent's
    /// requests begin with the same messages.
    pub shared: u64,
    /// The purpose of the model request, for example `summary`. `null` for an ordinary turn.
    pub purpose: Option<String>,
}

/// Data of the event `provider:response`: a model returned a complete answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProviderAnswer {
    /// The provider that serves the model.
    pub provider: String,
    /// The name of the model that answered.
    pub model: String,
    /// The token counts of the model request and of the answer.
    pub usage: TokenUsage,
    /// Why the model's answer ended.
    pub stop_reason: EndReason,
    /// The id that the provider assigned to the request. `null` if it assigned none.
    pub request_id: Option<String>,
}

/// Data of the event `provider:retry`: an attempt to send a model request failed, and another one
/// follows.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProviderRetry {
    /// The provider that serves the model.
    pub provider: String,
    /// The name of the model that receives the request.
    pub model: String,
    /// The number of the failed attempt to send the model request, from 1.
    pub attempt: u32,
    /// Why the attempt to send the model request failed.
    pub error: String,
    /// The pause before the next attempt to send the request, in milliseconds. `null` if unknown.
    pub pause_ms: Option<u64>,
}

/// Data of the event `provider:error`: a model request failed and will not be retried.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProviderFailure {
    /// The provider that serves the model.
    pub provider: String,
    /// Why the last attempt to send the request failed.
    pub error: String,
    /// The number of attempts to send the request.
    pub attempts: u32,
}

/// Why a model's answer ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The model finished its answer.
    #[default]
    Done,
    /// The model requested tool calls and waits for their results.
    Calls,
    /// The model's answer reached the limit of output tokens, or filled the model's context.
    Length,
    /// The provider withheld the model's answer.
    Refused,
    /// Any other reason why the answer ended, in the words of the provider.
    Other(String),
}

/// Token counts of a model request and its answer. A count is `null` if the provider did not report
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenUsage {
    /// The number of tokens in the model request, including cached tokens.
    pub input: Option<u64>,
    /// The number of tokens in the model's answer.
    pub output: Option<u64>,
    /// The number of tokens of the request that the provider read from its cache.
    pub cached: Option<u64>,
    /// The number of tokens of the request that the provider wrote to its cache.
    pub cache_written: Option<u64>,
}

//! A model that is asked, and what comes of it.

use serde::{Deserialize, Serialize};

/// A request that is about to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProviderRequest {
    /// Who serves the model.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The number of this attempt, from 1.
    pub attempt: u32,
    /// How many messages the request has.
    pub messages: u64,
    /// How many of the first messages the session shares with its parent.
    pub shared: u64,
    /// What is asked for, such as `summary`; none for the answer of a turn.
    pub purpose: Option<String>,
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProviderAnswer {
    /// Who serves the model.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The tokens of the request and its answer.
    pub usage: TokenUsage,
    /// Why the answer ended.
    pub stop_reason: EndReason,
    /// The provider's name for the request.
    pub request_id: Option<String>,
}

/// An attempt that failed, after which there will be another.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProviderRetry {
    /// Who serves the model.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The number of the attempt that failed.
    pub attempt: u32,
    /// Why it failed.
    pub error: String,
    /// The pause before the next one, in milliseconds.
    pub pause_ms: Option<u64>,
}

/// A model that was given up.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProviderFailure {
    /// Who serves the model.
    pub provider: String,
    /// Why the last attempt failed.
    pub error: String,
    /// How many attempts there were.
    pub attempts: u32,
}

/// Why an answer ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The model had no more to say.
    #[default]
    Done,
    /// It wants results of its calls.
    Calls,
    /// The most tokens were reached.
    Length,
    /// The provider held it back.
    Refused,
    /// Something else, in the provider's words.
    Other(String),
}

/// The tokens of a request and its answer; none where the provider does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenUsage {
    /// Tokens of the request, cached ones too.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// Tokens of the request that were read from a cache.
    pub cached: Option<u64>,
    /// Tokens of the request that were written to a cache.
    pub cache_written: Option<u64>,
}

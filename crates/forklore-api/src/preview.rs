//! Types of `inspect --request`, which shows the request that a model would receive.

use forklore_core::{Cut, Data, Selector, SessionId};
use serde::{Deserialize, Serialize};

/// The request of `inspect --request`: the session, and the model that would answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Preview {
    /// The session.
    pub session_id: SessionId,
    /// The model, by its name in the configuration. `null` is the default model.
    pub model: Option<String>,
    /// Returns the request of a fork at this cut instead, and what it shares with the session's
    /// request. `null` returns the session's request.
    pub fork_at: Option<Selector>,
    /// Whether to leave out the tools. Then no tool server is started.
    #[serde(default)]
    pub without_tools: bool,
    /// Whether the model's server counts the tokens, for which it receives the history. If `false`
    /// or if the server cannot count, the number is an estimate.
    #[serde(default)]
    pub count: bool,
}

/// The answer of `inspect --request`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestPreview {
    /// The model that would receive the request.
    pub model: ModelName,
    /// The number of messages in the request.
    pub messages: usize,
    /// The number of tools in the request.
    pub tools: usize,
    /// The size of the body in bytes.
    pub bytes: usize,
    /// The number of tokens in the request.
    pub tokens: TokenCount,
    /// The part of a fork's request that is identical to the parent's request. Present only with
    /// `--fork`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<SharedPrefix>,
    /// The body of the request, byte for byte.
    pub body: Data,
}

/// The provider and the name that identify a model.
///
/// Reasoning is sent back only to the model that wrote it (docs/semantics.md, Model requests).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelName {
    /// The provider, such as `anthropic`.
    pub provider: String,
    /// The provider's name for the model.
    pub model: String,
}

/// A number of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenCount {
    /// The number of tokens.
    pub count: u64,
    /// Whether the number is an estimate.
    pub estimated: bool,
}

/// The part of a fork's request that is identical to the beginning of its parent's request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedPrefix {
    /// The cut at which the fork would begin.
    pub cut: Cut,
    /// The number of shared messages.
    pub messages: usize,
    /// The number of shared bytes.
    pub bytes: usize,
    /// The number of shared tokens.
    pub tokens: TokenCount,
}

//! Types of `inspect --request`, which shows the request that a model would receive.

use forklore_core::{Cut, Data, Selector, SessionId};
use serde::{Deserialize, Serialize};

/// The request of `inspect --request`: computes the request that a model would receive, without
/// sending it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Preview {
    /// The session whose next model request is computed.
    pub session_id: SessionId,
    /// The model that would receive the request, by its name in the configuration. `null` means the
    /// default model.
    pub model: Option<String>,
    /// The log position of an assumed fork, which is not created. If set, the answer describes the
    /// model request of this fork, and how much of its beginning is identical to the session's
    /// request. `null` describes the request of the session itself.
    pub fork_at: Option<Selector>,
    /// Whether to omit the tools from the request. If `true`, no tool server is started.
    #[serde(default)]
    pub without_tools: bool,
    /// Whether the model's server counts the tokens. To count, the server receives the session's
    /// history. If `false`, or if the server cannot count, the number of tokens is an estimate.
    #[serde(default)]
    pub count: bool,
}

/// The answer of `inspect --request`: the request that a model would receive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestPreview {
    /// The model that would receive the request.
    pub model: ModelName,
    /// The number of messages in the request.
    pub messages: usize,
    /// The number of tools that the request offers to the model.
    pub tools: usize,
    /// The size of the request body in bytes.
    pub bytes: usize,
    /// The number of tokens in the request, counted or estimated.
    pub tokens: TokenCount,
    /// How much of the assumed fork's request is identical to the beginning of its parent's
    /// request. Present only if the caller set a fork position (`--fork`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<SharedPrefix>,
    /// The body of the model request, byte for byte.
    pub body: Data,
}

/// The provider and the name that together identify a model.
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

/// A number of tokens, counted or estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenCount {
    /// The number of tokens.
    pub count: u64,
    /// Whether the number of tokens is an estimate.
    pub estimated: bool,
}

/// The part at the beginning of a fork's request that is identical to its parent's request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedPrefix {
    /// The position in the parent's log at which the fork would begin.
    pub cut: Cut,
    /// The number of messages in the identical beginning of the two requests.
    pub messages: usize,
    /// The length of the identical beginning, in bytes.
    pub bytes: usize,
    /// The length of the identical beginning, in tokens.
    pub tokens: TokenCount,
}

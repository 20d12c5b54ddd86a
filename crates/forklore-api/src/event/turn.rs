//! Events about turns: the prompt, the answer and the usage.

use std::ops::AddAssign;

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A prompt that was stored.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptSubmitted {
    /// The text of the prompt.
    pub prompt: String,
    /// Further parts of the prompt, such as attachments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Value>,
}

/// A prompt that was answered.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptAnswered {
    /// The text of the prompt.
    pub prompt: String,
    /// The last text that the model wrote.
    pub response: String,
}

/// A turn that ended.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnEnded {
    /// The program that ran the turn: `forklore`.
    pub orchestrator: String,
    /// How the turn ended.
    pub status: TurnStatus,
    /// The result of the turn.
    #[serde(flatten)]
    pub result: TurnResult,
}

/// The result of a turn.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum TurnResult {
    /// The turn ran to its end.
    Ran {
        /// The session in which the turn ended.
        session_id: SessionId,
        /// The session in which the turn began. `null` unless the turn had to continue in a fork.
        moved_from: Option<SessionId>,
        /// The number of model answers in the turn.
        turn_count: u32,
        /// The number of tool calls that the model made.
        tool_calls: u32,
        /// Usage of the whole turn.
        usage: TurnUsage,
    },
    /// The turn failed.
    Failed {
        /// Why the turn failed.
        error: String,
    },
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// The model finished its answer.
    Success,
    /// The turn was interrupted.
    Cancelled,
    /// The turn ended early or failed.
    Incomplete,
}

impl TurnStatus {
    /// Returns the status as it is written in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Cancelled => "cancelled",
            Self::Incomplete => "incomplete",
        }
    }
}

/// The usage of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnUsage {
    /// The number of input tokens.
    pub input: u64,
    /// The number of output tokens.
    pub output: u64,
    /// The number of input tokens that the provider read from its cache.
    pub cached: u64,
    /// Cost, in the currency of the configured prices. `null` if no price is known.
    pub cost: Option<f64>,
}

impl AddAssign for TurnUsage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.cost = match (self.cost, other.cost) {
            (Some(ours), Some(theirs)) => Some(ours + theirs),
            (one, None) | (None, one) => one,
        };
    }
}

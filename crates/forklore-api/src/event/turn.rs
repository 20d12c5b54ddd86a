//! Events about turns: the prompt, the answer and the usage.

use std::ops::AddAssign;

use forklore_core::{SessionId, without_noise};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Data of the event `prompt:submit`: a prompt of the user was stored in the session.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptSubmitted {
    /// The text of the prompt.
    pub prompt: String,
    /// Further parts of the prompt, such as attachments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Value>,
}

/// Data of the event `prompt:complete`: the model answered a prompt completely. A turn that was
/// interrupted, ended early or failed has no such event.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptAnswered {
    /// The text of the prompt that the model answered.
    pub prompt: String,
    /// The last text that the model wrote in answer to the prompt.
    pub response: String,
}

/// Data of the event `orchestrator:complete`: a turn ended, successfully or not.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnEnded {
    /// The program that ran the turn: always `forklore`.
    pub orchestrator: String,
    /// How the turn ended.
    pub status: TurnStatus,
    /// The result of the turn: counts and usage, or the error.
    #[serde(flatten)]
    pub result: TurnResult,
}

/// The result of a turn: counts and usage, or the error.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum TurnResult {
    /// The turn ended without an error: the model finished its answer, or the turn was interrupted
    /// or ended early.
    Ran {
        /// The session in which the turn ended.
        session_id: SessionId,
        /// The session in which the turn began. `null` if the turn did not have to continue in a
        /// fork.
        moved_from: Option<SessionId>,
        /// The number of complete answers that the model gave in the turn. In this field's name,
        /// `turn` means one such answer.
        turn_count: u32,
        /// The number of tool calls that the model made.
        tool_calls: u32,
        /// The tokens and the cost of all model calls of the turn.
        usage: TurnUsage,
    },
    /// The turn failed with an error.
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
    /// Returns the turn status as its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Cancelled => "cancelled",
            Self::Incomplete => "incomplete",
        }
    }
}

/// The tokens and the cost of a turn's model calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnUsage {
    /// The number of input tokens of all model calls of the turn.
    pub input: u64,
    /// The number of output tokens of all model calls of the turn.
    pub output: u64,
    /// The number of input tokens that the provider read from its cache, in all model calls of the
    /// turn.
    pub cached: u64,
    /// The cost of the turn's model calls, in the currency of the configured prices. A call counts
    /// only if the model has a configured price and the provider reported its tokens. `null` if no
    /// call counts.
    pub cost: Option<f64>,
}

impl AddAssign for TurnUsage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.cost = match (self.cost, other.cost) {
            (Some(ours), Some(theirs)) => Some(without_noise(ours + theirs)),
            (one, None) | (None, one) => one,
        };
    }
}

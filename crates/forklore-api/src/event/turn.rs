//! Turns: the prompt, the answer, and what they took.

use std::ops::AddAssign;

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The prompt that was stored.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptSubmitted {
    /// Its text.
    pub prompt: String,
    /// What goes along with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Value>,
}

/// The prompt that was answered.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptAnswered {
    /// Its text.
    pub prompt: String,
    /// What the model said last.
    pub response: String,
}

/// The turn that is over.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnEnded {
    /// Who ran it: `forklore`.
    pub orchestrator: String,
    /// How it ended.
    pub status: TurnStatus,
    /// What it came to.
    #[serde(flatten)]
    pub result: TurnResult,
}

/// What a turn came to.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum TurnResult {
    /// It ran to an end.
    Ran {
        /// The session in which it ended.
        session_id: SessionId,
        /// The session in which it began, where it had to go on in a fork.
        moved_from: Option<SessionId>,
        /// How often the model answered.
        turn_count: u32,
        /// How many calls the model made.
        tool_calls: u32,
        /// What it took.
        usage: TurnUsage,
    },
    /// It failed.
    Failed {
        /// Why.
        error: String,
    },
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// The model had no more to say.
    Success,
    /// It was interrupted.
    Cancelled,
    /// It was cut short, or failed.
    Incomplete,
}

impl TurnStatus {
    /// The status as it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Cancelled => "cancelled",
            Self::Incomplete => "incomplete",
        }
    }
}

/// What a turn took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnUsage {
    /// Tokens sent.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
    /// Tokens of the input that the provider had cached.
    pub cached: u64,
    /// Money, in the unit of the prices; none where no price is known.
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

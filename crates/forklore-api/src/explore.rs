//! Types of `explore`, which runs several continuations of one session and compares them.

use forklore_core::{Cut, Label, SessionId};
use serde::{Deserialize, Serialize};

use crate::event::TurnUsage;

/// The answer of `explore`: the continuations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exploration {
    /// The session that was continued.
    pub session_id: SessionId,
    /// The root of the session's family.
    pub root_session_id: SessionId,
    /// The cut at which the continuations begin.
    pub at: Cut,
    /// The continuations, in the order in which they were requested.
    pub tries: Vec<Continuation>,
    /// The label of the continuation with the highest score. `null` if no continuation has a score.
    pub best: Option<String>,
}

/// One continuation of a session: a fork with a prompt, and the answer to it. Also reports a
/// continuation that still runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Continuation {
    /// The id of the fork. `null` if the fork could not be created.
    pub session_id: Option<SessionId>,
    /// The label of the fork. `null` if the fork could not be created.
    pub label: Option<Label>,
    /// The model that answers, by its name in the configuration.
    pub model: String,
    /// The prompt that the model answers.
    pub prompt: String,
    /// The answer, as far as it has arrived.
    pub answer: String,
    /// The progress or the outcome of the continuation.
    pub state: ContinuationState,
    /// The tokens and the cost of the continuation's model calls.
    pub usage: TurnUsage,
    /// The duration of the turn in seconds.
    pub seconds: f64,
    /// The score that the judge gave the answer. `null` if the judge gave none.
    pub score: Option<f64>,
    /// The error of the continuation or of its judge. `null` if neither failed.
    pub error: Option<String>,
}

/// The progress of a continuation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContinuationState {
    /// The continuation waits for a free job, or for the first continuation to fill the provider's
    /// prompt cache.
    #[default]
    Waiting,
    /// The request was sent to the model.
    #[serde(rename = "asked")]
    Requested,
    /// The answer is arriving.
    Answering,
    /// The judge is scoring the answer.
    #[serde(rename = "judged")]
    Judging,
    /// The answer is complete.
    Done,
    /// The turn was interrupted or ended early. The fork can be resumed.
    Interrupted,
    /// The turn failed. The fork can be resumed.
    Failed,
}

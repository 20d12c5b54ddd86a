//! Types of `explore`: runs several continuations of one session and compares them.

use forklore_core::{Cut, Label, SessionId};
use serde::{Deserialize, Serialize};

use crate::event::TurnUsage;

/// The answer of `explore`: the continuations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exploration {
    /// The session that was continued.
    pub session_id: SessionId,
    /// The root of its family.
    pub root_session_id: SessionId,
    /// The cut at which the continuations begin.
    pub at: Cut,
    /// The continuations, in order.
    pub tries: Vec<Continuation>,
    /// The label of the continuation with the highest score. `null` without a score.
    pub best: Option<String>,
}

/// The state of a continuation, while it runs and when it is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Continuation {
    /// The fork. `null` if it could not be created.
    pub session_id: Option<SessionId>,
    /// The label of the fork. `null` if it could not be created.
    pub label: Option<Label>,
    /// The model that answers, by its name in the configuration.
    pub model: String,
    /// The prompt.
    pub prompt: String,
    /// The answer so far.
    pub answer: String,
    /// The progress or the outcome.
    pub state: ContinuationState,
    /// The tokens and the cost.
    pub usage: TurnUsage,
    /// The duration of the turn in seconds.
    pub seconds: f64,
    /// The judge's score. `null` without a judge.
    pub score: Option<f64>,
    /// The error of the continuation or of its judge. `null` without an error.
    pub error: Option<String>,
}

/// The progress of a continuation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContinuationState {
    /// Waits for the first one to warm the cache, or for a free job.
    #[default]
    Waiting,
    /// The request was sent to the model.
    #[serde(rename = "asked")]
    Requested,
    /// The answer is arriving.
    Answering,
    /// The judge scores the answer.
    #[serde(rename = "judged")]
    Judging,
    /// The answer is complete.
    Done,
    /// Interrupted or cut short. It can be resumed.
    Interrupted,
    /// Failed. It can be resumed.
    Failed,
}

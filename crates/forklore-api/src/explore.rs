//! Types of `explore`, which runs several continuations of one session and compares them.

use std::num::NonZeroU16;

use forklore_core::{Cut, Label, Selector, SessionId};
use serde::{Deserialize, Serialize};

use crate::event::TurnUsage;

/// The request of `explore`: the session to continue, and how.
///
/// Each prompt is tried with each model. Calls of tools that need a person's approval are denied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Explore {
    /// The session to continue.
    pub session_id: SessionId,
    /// The cut at which the continuations begin. `null` is the end.
    pub at: Option<Selector>,
    /// The prompts. None may be blank.
    pub prompts: Vec<String>,
    /// The models that answer, by their names in the configuration. An empty list is the default
    /// model.
    #[serde(default)]
    pub models: Vec<String>,
    /// The number of continuations, from 1 to 64: the pairs of prompt and model are repeated in
    /// order. `null` is one continuation of each pair, or four of a single pair.
    pub n: Option<usize>,
    /// The command that scores an answer: it reads the answer from its standard input and prints a
    /// number, higher for a better answer. No shell interprets it. It runs on the machine that runs
    /// the verb, so a server must refuse it from callers who may not run programs there. `null`
    /// scores nothing.
    pub judge: Option<String>,
    /// For how many seconds the judge may run for one answer, from 1 to 86400.
    #[serde(default = "judge_timeout")]
    pub judge_timeout_seconds: u64,
    /// The prefix of the forks' labels, before a number. `null` derives it from the session: `try-1`
    /// from a root, `plan-b.1` from the fork `plan-b`.
    pub label: Option<String>,
    /// The largest number of continuations that run at the same time. `null` runs all.
    pub jobs: Option<NonZeroU16>,
}

fn judge_timeout() -> u64 {
    Explore::JUDGE_TIMEOUT_SECONDS
}

impl Explore {
    /// The default time limit of the judge for one answer, in seconds.
    pub const JUDGE_TIMEOUT_SECONDS: u64 = 120;

    /// Creates a request that continues the session at its end, with all defaults.
    #[must_use]
    pub fn of(session_id: SessionId, prompts: Vec<String>) -> Self {
        Self {
            session_id,
            at: None,
            prompts,
            models: Vec::new(),
            n: None,
            judge: None,
            judge_timeout_seconds: Self::JUDGE_TIMEOUT_SECONDS,
            label: None,
            jobs: None,
        }
    }
}

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

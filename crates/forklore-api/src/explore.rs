//! Types of `explore`, which runs several continuations of one session and compares them.

use std::num::NonZeroU16;
use std::path::PathBuf;

use forklore_core::{Cut, Label, Selector, SessionId};
use serde::{Deserialize, Serialize};

use crate::event::TurnUsage;

/// The request of `explore`: continues a session in several ways, each in a fork.
///
/// Each prompt is tried with each model. Tool calls that need a person's approval are denied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Explore {
    /// The session to continue.
    pub session_id: SessionId,
    /// The position in the session's log at which the continuations begin. `null` means the end of
    /// the log.
    pub at: Option<Selector>,
    /// The prompts to try, none of them blank. Each is answered by each model.
    pub prompts: Vec<String>,
    /// The models that answer each prompt, by their names in the configuration. An empty list means
    /// only the default model.
    #[serde(default)]
    pub models: Vec<String>,
    /// The number of continuations, from 1 to 64. The continuations use the pairs of prompt and
    /// model in order, and begin again with the first pair if `n` exceeds the number of pairs.
    /// `null` runs one continuation of each pair, or four if there is only one pair.
    pub n: Option<usize>,
    /// The command that scores an answer. The command reads the answer from its standard input and
    /// prints a number, higher for a better answer. It runs without a shell on the machine that
    /// executes the request. A server must reject this field from callers who may not run programs
    /// on that machine. `null` scores no answer.
    pub judge: Option<String>,
    /// How many seconds the `judge` command may run to score one answer, from 1 to 86400.
    #[serde(default = "judge_timeout")]
    pub judge_timeout_seconds: u64,
    /// The first part of the forks' labels; a number follows. `null` derives the first part from
    /// the session: the forks of a root get the labels `try-1`, `try-2`, ..., and the forks of a
    /// branch `plan-b` get `plan-b.1`, `plan-b.2`, ...
    pub label: Option<String>,
    /// The largest number of continuations that run at the same time. `null` runs all of them at
    /// the same time.
    pub jobs: Option<NonZeroU16>,
}

fn judge_timeout() -> u64 {
    Explore::JUDGE_TIMEOUT_SECONDS
}

impl Explore {
    /// The default time limit of the `judge` command for one answer, in seconds.
    pub const JUDGE_TIMEOUT_SECONDS: u64 = 120;

    /// Creates a request that tries these prompts at the end of the session. All other fields have
    /// their defaults.
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

/// The answer of `explore`: the continuations of a session, and which of them scored best.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exploration {
    /// The session that was continued.
    pub session_id: SessionId,
    /// The id of the root of the session's family (a root with all its descendants).
    pub root_session_id: SessionId,
    /// The position in the session's log at which the continuations begin.
    pub at: Cut,
    /// The continuations, in the order in which they were requested.
    pub tries: Vec<Continuation>,
    /// The label of the continuation with the highest score. `null` if no continuation has a score.
    pub best: Option<String>,
}

/// One continuation of a session: a fork with a prompt, and the model's answer. The continuation
/// may be finished, running or waiting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Continuation {
    /// The id of the fork in which the continuation runs. `null` if the fork could not be created.
    pub session_id: Option<SessionId>,
    /// The label of the fork in which the continuation runs. `null` if the fork could not be
    /// created.
    pub label: Option<Label>,
    /// The model that answers, by its name in the configuration.
    pub model: String,
    /// The prompt that the model answers in this continuation.
    pub prompt: String,
    /// The model's answer, as far as it has arrived.
    pub answer: String,
    /// The progress of the continuation, or how it ended.
    pub state: ContinuationState,
    /// The tokens and the cost of the continuation's model calls.
    pub usage: TurnUsage,
    /// The duration of the continuation's turn in seconds.
    pub seconds: f64,
    /// The score that the `judge` command printed for the answer. `null` if it printed none or did
    /// not run.
    pub score: Option<f64>,
    /// The error of the continuation or of its `judge` command. `null` if neither failed.
    pub error: Option<String>,
    /// What a coding agent did in a folder of its own. Absent if a model answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<AgentWork>,
}

/// What a coding agent did in the folder of a continuation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentWork {
    /// The agent, such as `codex`.
    pub agent: String,
    /// The folder in which the agent works: a worktree, or a plain copy. `null` if it could not be
    /// made.
    pub folder: Option<PathBuf>,
    /// The tests that the `judge` command ran. `null` if it printed no numbers of tests, or did not
    /// run.
    pub tests: Option<TestCounts>,
    /// The number of files that the agent changed.
    pub files: u64,
    /// The number of lines that the agent added.
    pub added: u64,
    /// The number of lines that the agent removed.
    pub removed: u64,
}

/// How many tests passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TestCounts {
    /// The tests that passed.
    pub passed: u64,
    /// The tests that failed.
    pub failed: u64,
}

/// The progress of a continuation (a fork in which a model answers a prompt), or how the
/// continuation ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContinuationState {
    /// The continuation has not begun. It waits until fewer than `jobs` others run, or until the
    /// first continuation has filled the provider's prompt cache.
    #[default]
    Waiting,
    /// The prompt was sent to the model.
    #[serde(rename = "asked")]
    Requested,
    /// The model's answer is arriving.
    Answering,
    /// The `judge` command is scoring the answer.
    #[serde(rename = "judged")]
    Judging,
    /// The continuation is complete: the model answered.
    Done,
    /// The turn of the continuation was interrupted or ended early. The fork can be resumed.
    Interrupted,
    /// The turn of the continuation failed. The fork can be resumed.
    Failed,
}

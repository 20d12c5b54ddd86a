//! Types of `bring`, which records a summary of one branch in another session.

use std::ops::Range;

use forklore_core::summary::STRATEGY;
use forklore_core::{Data, EventId, Label, SessionId};
use serde::{Deserialize, Serialize};

use crate::FilesBrought;

/// How the summary of a branch is made: with or without a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Summarize {
    /// forklore makes the summary from the branch's log, without a model.
    Deterministic,
    /// A model wrote the summary. The application called the model.
    ByModel {
        /// The text of the summary that the model wrote.
        text: String,
        /// The name of the model that wrote the summary.
        model: String,
        /// Usage of the model call that wrote the summary, as payloads of `provider_usage` events.
        /// These events are recorded after the summary.
        #[serde(default)]
        usage: Vec<Data>,
    },
    /// forklore makes the summary without a model, because the requested model returned none.
    Fallback {
        /// Why the model returned no summary. The reason is recorded in the summary.
        why: String,
        /// Usage of the failed model call, as payloads of `provider_usage` events. These events are
        /// recorded after the summary.
        #[serde(default)]
        usage: Vec<Data>,
    },
}

impl Summarize {
    /// The strategy name that a summary contains if a model wrote it. A strategy is a way of
    /// summarizing.
    pub const BY_MODEL: &str = "model_summary_v1";

    /// Returns the name of the strategy (the way the summary is made), as recorded in the summary.
    #[must_use]
    pub fn strategy(&self) -> &'static str {
        match self {
            Self::ByModel { .. } => Self::BY_MODEL,
            Self::Deterministic | Self::Fallback { .. } => STRATEGY,
        }
    }

    /// Creates a [`Summarize::Fallback`] without usage, for a model that was requested but never
    /// called. `why` states why it was not called.
    #[must_use]
    pub fn fallback(why: impl Into<String>) -> Self {
        Self::Fallback { why: why.into(), usage: Vec::new() }
    }

    /// Returns the usage of the model call for the summary, as payloads of `provider_usage` events.
    /// Empty if no model was called.
    #[must_use]
    pub fn usage(&self) -> &[Data] {
        match self {
            Self::Deterministic => &[],
            Self::ByModel { usage, .. } | Self::Fallback { usage, .. } => usage,
        }
    }
}

/// The request of `bring`: summarizes a branch, and records the summary in another session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Bring {
    /// The branch to summarize.
    #[serde(rename = "from_session_id")]
    pub from: SessionId,
    /// The session in which the summary is recorded.
    #[serde(rename = "into_session_id")]
    pub into: SessionId,
    /// How the summary is made. Default: from the log, without a model.
    #[serde(default = "deterministic")]
    pub summarize: Summarize,
    /// The range of events to summarize, in conversation indexes: numbers that count the
    /// conversation events from 0. `null` summarizes everything that the branch did since the two
    /// sessions parted, except what an earlier `bring` already recorded in the other session. To
    /// record exactly what a dry run planned, set the range that the dry run returned: the branch
    /// may have grown since.
    pub part: Option<Range<u64>>,
    /// The name under which the caller has leased the session that records the summary. `null` if
    /// the caller has no lease.
    pub owner: Option<String>,
    /// Whether to return only the plan for the summary, and write nothing.
    #[serde(default)]
    pub dry_run: bool,
}

fn deterministic() -> Summarize {
    Summarize::Deterministic
}

impl Bring {
    /// Creates a request to summarize `from` without a model, and to record the summary in `into`.
    #[must_use]
    pub fn new(from: SessionId, into: SessionId) -> Self {
        let summarize = Summarize::Deterministic;
        Self { from, into, summarize, part: None, owner: None, dry_run: false }
    }
}

/// The answer of `bring`: the summary of a branch that was recorded in another session. After a dry
/// run: the plan for the summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Brought {
    /// Whether this call recorded the summary. `false` for dry runs, and for calls whose summary
    /// was already recorded.
    pub recorded: bool,
    /// Whether an earlier call already recorded the same summary.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub existing: bool,
    /// Whether this answer is only a plan: nothing was written.
    pub dry_run: bool,
    /// The session in which the summary is recorded.
    pub session_id: SessionId,
    /// The branch that was summarized.
    pub from_session_id: SessionId,
    /// The label of the summarized branch.
    pub label: Label,
    /// The name of the strategy (way of summarizing) that made the summary. `model_summary_v1`
    /// means that a model wrote it.
    pub strategy: String,
    /// The conversation index of the first summarized event. A conversation index numbers the
    /// conversation events of a session from 0.
    pub from_index: u64,
    /// The end (exclusive) of the summarized range, as a conversation index.
    pub to_index: u64,
    /// The last answer of the model in the summarized range, cut to 64 KiB. `null` if the range has
    /// no answer.
    pub answer: Option<String>,
    /// The id of the event that contains the summary. In a dry run: the id that the event would
    /// get.
    pub event_id: EventId,
    /// The log position (`seq`) of the event that contains the summary. In a dry run: the position
    /// that the event would get.
    pub seq: u64,
    /// The last log position of the session in which the summary is recorded.
    pub head_seq: i64,
    /// What happened to files; absent if only the summary was wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FilesBrought>,
}

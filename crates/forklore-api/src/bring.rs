//! Types of `bring`: records a summary of one branch in another branch.

use std::ops::Range;

use forklore_core::summary::STRATEGY;
use forklore_core::{Data, EventId, Label, SessionId};
use serde::{Deserialize, Serialize};

/// Who writes a summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Summarize {
    /// forklore writes it from the log, without a model.
    Deterministic,
    /// A model wrote it; the application called the model.
    ByModel {
        /// The text of the summary.
        text: String,
        /// The name of the model.
        model: String,
        /// Usage of the model call, as `provider_usage` payloads. Recorded after the summary.
        #[serde(default)]
        usage: Vec<Data>,
    },
    /// forklore writes it, because a model was requested but returned no summary.
    Fallback {
        /// Why the model returned no summary. Recorded in the summary.
        why: String,
        /// Usage of the failed model call, as `provider_usage` payloads.
        #[serde(default)]
        usage: Vec<Data>,
    },
}

impl Summarize {
    /// The `strategy` name of summaries that a model wrote.
    pub const BY_MODEL: &str = "model_summary_v1";

    /// Returns the summary's `strategy` name.
    #[must_use]
    pub fn strategy(&self) -> &'static str {
        match self {
            Self::ByModel { .. } => Self::BY_MODEL,
            Self::Deterministic | Self::Fallback { .. } => STRATEGY,
        }
    }

    /// Creates a deterministic summary that replaces one by a model that was not called.
    #[must_use]
    pub fn fallback(why: impl Into<String>) -> Self {
        Self::Fallback { why: why.into(), usage: Vec::new() }
    }

    /// Returns the usage of the model call, as `provider_usage` payloads.
    #[must_use]
    pub fn usage(&self) -> &[Data] {
        match self {
            Self::Deterministic => &[],
            Self::ByModel { usage, .. } | Self::Fallback { usage, .. } => usage,
        }
    }
}

/// The request of `bring`: which branch to summarize, and which session records the summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Bring {
    /// The branch to summarize.
    #[serde(rename = "from_session_id")]
    pub from: SessionId,
    /// The session that records the summary.
    #[serde(rename = "into_session_id")]
    pub into: SessionId,
    /// Who writes the summary.
    #[serde(default = "deterministic")]
    pub summarize: Summarize,
    /// The range of conversation indexes to summarize, as returned by a dry run. Set it if the
    /// branch may have grown since the dry run. `null` means everything that is new.
    pub part: Option<Range<u64>>,
    /// The name under which the caller has leased `into_session_id`; `null` if it has no lease.
    pub owner: Option<String>,
    /// Whether to return the plan only and write nothing.
    #[serde(default)]
    pub dry_run: bool,
}

fn deterministic() -> Summarize {
    Summarize::Deterministic
}

impl Bring {
    /// Creates a request to record a deterministic summary of `from` in `into`.
    #[must_use]
    pub fn new(from: SessionId, into: SessionId) -> Self {
        let summarize = Summarize::Deterministic;
        Self { from, into, summarize, part: None, owner: None, dry_run: false }
    }
}

/// The answer of `bring`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Brought {
    /// Whether this call recorded the summary. `false` for dry runs and repetitions.
    pub recorded: bool,
    /// Whether the same summary was already recorded earlier.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub existing: bool,
    /// Whether this answer is only a plan.
    pub dry_run: bool,
    /// The session that records the summary.
    pub session_id: SessionId,
    /// The summarized branch.
    pub from_session_id: SessionId,
    /// The label of the summarized branch.
    pub label: Label,
    /// The strategy that made the summary.
    pub strategy: String,
    /// The first conversation index of the summarized part.
    pub from_index: u64,
    /// The conversation index after the last one of the summarized part.
    pub to_index: u64,
    /// The last answer of the model in the branch. `null` if there is none.
    pub answer: Option<String>,
    /// The id of the event that contains the summary.
    pub event_id: EventId,
    /// The log position (`seq`) of that event.
    pub seq: u64,
    /// The last log position of the session that records the summary.
    pub head_seq: i64,
}

//! `bring`: shares a branch's outcome with another branch.

use std::ops::Range;

use forklore_core::summary::STRATEGY;
use forklore_core::{Data, EventId, Label, SessionId};
use serde::{Deserialize, Serialize};

/// Who writes a summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Summarize {
    /// forklore itself, from the log alone.
    Deterministic,
    /// A model, which the application has called.
    ByModel {
        /// The summary.
        text: String,
        /// The model that wrote it.
        model: String,
        /// What the call cost: payloads of `provider_usage`, recorded after the summary.
        #[serde(default)]
        usage: Vec<Data>,
    },
    /// forklore itself, because no model gave a summary.
    Fallback {
        /// Why the model gave none; the summary says so.
        why: String,
        /// What the call cost all the same.
        #[serde(default)]
        usage: Vec<Data>,
    },
}

impl Summarize {
    /// The name of a summary that a model wrote.
    pub const BY_MODEL: &str = "model_summary_v1";

    /// How the summary is made, as its `strategy` says.
    #[must_use]
    pub fn strategy(&self) -> &'static str {
        match self {
            Self::ByModel { .. } => Self::BY_MODEL,
            Self::Deterministic | Self::Fallback { .. } => STRATEGY,
        }
    }

    /// A deterministic summary in place of one by a model that was not called.
    #[must_use]
    pub fn fallback(why: impl Into<String>) -> Self {
        Self::Fallback { why: why.into(), usage: Vec::new() }
    }

    /// What calling a model cost, as payloads of `provider_usage`.
    #[must_use]
    pub fn usage(&self) -> &[Data] {
        match self {
            Self::Deterministic => &[],
            Self::ByModel { usage, .. } | Self::Fallback { usage, .. } => usage,
        }
    }
}

/// `bring`: which branch's outcome to share, and with which session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Bring {
    /// The branch.
    #[serde(rename = "from_session_id")]
    pub from: SessionId,
    /// The session that gets the outcome.
    #[serde(rename = "into_session_id")]
    pub into: SessionId,
    /// Who sums it up.
    #[serde(default = "deterministic")]
    pub summarize: Summarize,
    /// The part of the branch that was summed up, by index, as a dry run named it: the branch may
    /// have gone on since. None is all that is new.
    pub part: Option<Range<u64>>,
    /// The runtime that holds `into_session_id`, if one does.
    pub owner: Option<String>,
    /// Plan only: nothing is written.
    #[serde(default)]
    pub dry_run: bool,
}

fn deterministic() -> Summarize {
    Summarize::Deterministic
}

impl Bring {
    /// The outcome of `from` into `into`, summed up by forklore itself.
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
    /// Whether this call wrote it.
    pub recorded: bool,
    /// Whether the same was brought before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub existing: bool,
    /// Whether this is only a plan.
    pub dry_run: bool,
    /// The session that gets the outcome.
    pub session_id: SessionId,
    /// The branch.
    pub from_session_id: SessionId,
    /// The branch's label.
    pub label: Label,
    /// How it is summed up.
    pub strategy: String,
    /// The first index of the part of the branch.
    pub from_index: u64,
    /// The index after the last one.
    pub to_index: u64,
    /// The last answer of the branch's model.
    pub answer: Option<String>,
    /// The event that holds the summary.
    pub event_id: EventId,
    /// Its log position.
    pub seq: u64,
    /// The last log position of the session that gets it.
    pub head_seq: i64,
}

//! Events about the model's context window: how full it is, and compactions that free space in it.

use serde::{Deserialize, Serialize};

/// How full the context window of a session is.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextGauge {
    /// A lower bound for the size of the next request, in tokens.
    pub tokens: u64,
    /// The part of `tokens` that is estimated from text lengths.
    pub estimated: u64,
    /// The size of the model's context window, in tokens. `null` if unknown.
    pub window: Option<u64>,
    /// `tokens` divided by `window`. Above 1 the request does not fit. `null` if `window` is
    /// unknown.
    pub fraction: Option<f64>,
}

/// A compaction that is about to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryCompaction {
    /// Why the history is compacted.
    pub reason: CompactionReason,
    /// The conversation index of the first event that the summary will cover.
    pub from_index: u64,
    /// The conversation index after the last event that the summary will cover.
    pub to_index: u64,
    /// The size of the next request without the compaction, in tokens.
    pub tokens: u64,
}

/// A compaction that was stored.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryCompacted {
    /// Why the history was compacted.
    pub reason: CompactionReason,
    /// The conversation index of the first event that the summary covers.
    pub from_index: u64,
    /// The conversation index after the last event that the summary covers.
    pub to_index: u64,
    /// The name of the strategy that made the summary.
    pub strategy: String,
    /// The size of the next request before the compaction, in tokens.
    pub tokens_before: u64,
    /// The estimated size of the next request after the compaction, in tokens.
    pub tokens_after: u64,
}

/// Why a history is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CompactionReason {
    /// The user or the application requested the compaction.
    #[serde(rename = "asked")]
    Requested,
    /// The context window is fuller than the configured threshold.
    Threshold,
    /// The model refused a request because it was too long.
    TooLong,
}

impl CompactionReason {
    /// Returns the reason as it is written in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Requested => "asked",
            Self::Threshold => "threshold",
            Self::TooLong => "too_long",
        }
    }
}

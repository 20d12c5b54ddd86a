//! Events about the model's context window: how full it is, and compactions that free space in it.

use serde::{Deserialize, Serialize};

/// Data of the event `context:gauge`: how full the context window of a session's model is.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextGauge {
    /// The minimum size of the session's next model request in tokens, partly estimated.
    pub tokens: u64,
    /// How many of the `tokens` are estimated from the lengths of texts.
    pub estimated: u64,
    /// The size of the model's context window, in tokens. `null` if unknown.
    pub window: Option<u64>,
    /// The fraction of the model's context window that the next request fills: `tokens` divided by
    /// `window`. If it exceeds 1, the request does not fit. `null` if the window is unknown.
    pub fraction: Option<f64>,
}

/// Data of the event `context:pre_compact`: a summary is about to replace part of a session's
/// history in model requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryCompaction {
    /// Why the session's history is compacted.
    pub reason: CompactionReason,
    /// The conversation index of the first event that the summary will replace. A conversation
    /// index numbers the conversation events of a session from 0.
    pub from_index: u64,
    /// The end (exclusive) of the events that the summary will replace, as a conversation index.
    pub to_index: u64,
    /// The size of the next model request without the compaction, in tokens.
    pub tokens: u64,
}

/// Data of the event `context:post_compact`: a summary was stored, and replaces part of a session's
/// history in model requests.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryCompacted {
    /// Why the session's history was compacted.
    pub reason: CompactionReason,
    /// The conversation index of the first event that the summary replaces. A conversation index
    /// numbers the conversation events of a session from 0.
    pub from_index: u64,
    /// The end (exclusive) of the events that the summary replaces, as a conversation index.
    pub to_index: u64,
    /// The name of the strategy (way of summarizing) that made the summary.
    pub strategy: String,
    /// The size of the next model request before the compaction, in tokens.
    pub tokens_before: u64,
    /// The estimated size of the next model request after the compaction, in tokens.
    pub tokens_after: u64,
}

/// Why a session's history is compacted: a summary replaces part of it in model requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CompactionReason {
    /// The user or the application requested the compaction.
    #[serde(rename = "asked")]
    Requested,
    /// The model's context window is fuller than the configured threshold.
    Threshold,
    /// The model rejected a request because it was too long.
    TooLong,
}

impl CompactionReason {
    /// Returns the compaction reason as its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Requested => "asked",
            Self::Threshold => "threshold",
            Self::TooLong => "too_long",
        }
    }
}

//! The context of a model: how full it is, and how room is made.

use serde::{Deserialize, Serialize};

/// How full a session's context is.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextGauge {
    /// The tokens that the next request takes at least.
    pub tokens: u64,
    /// How many of them are estimated from the length of texts.
    pub estimated: u64,
    /// The tokens that the model takes, where known.
    pub window: Option<u64>,
    /// The part that is full, where the window is known; more than 1 is too much.
    pub fraction: Option<f64>,
}

/// The compaction that is about to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryCompaction {
    /// Why.
    pub reason: CompactionReason,
    /// The first conversation index that the summary will cover.
    pub from_index: u64,
    /// The index behind the last one.
    pub to_index: u64,
    /// The tokens of the next request without it.
    pub tokens: u64,
}

/// The compaction that was stored.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryCompacted {
    /// Why.
    pub reason: CompactionReason,
    /// The first conversation index that the summary covers.
    pub from_index: u64,
    /// The index behind the last one.
    pub to_index: u64,
    /// How the summary was made.
    pub strategy: String,
    /// The tokens of the next request before.
    pub tokens_before: u64,
    /// The tokens of the next request now: an estimate.
    pub tokens_after: u64,
}

/// Why a history is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CompactionReason {
    /// Somebody asked for it.
    #[serde(rename = "asked")]
    Requested,
    /// The context is fuller than the settings allow.
    Threshold,
    /// The model refused a request that is too long.
    TooLong,
}

impl CompactionReason {
    /// The reason as it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Requested => "asked",
            Self::Threshold => "threshold",
            Self::TooLong => "too_long",
        }
    }
}

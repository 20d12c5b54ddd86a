//! `stats`: how much there is, what sharing saved, what model calls cost.

use forklore_core::header::Usage;
use forklore_core::report::Problem;
use forklore_core::{Label, SessionId};
use serde::{Deserialize, Serialize};

/// Sums over sessions. Shared history counts once, in the session that wrote it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stats {
    /// Sessions that were not deleted.
    pub sessions: u64,
    /// Events that they wrote themselves.
    pub own_events: u64,
    /// Events that they inherited.
    pub inherited_events: u64,
    /// Payload bytes that they wrote themselves.
    pub bytes: u64,
    /// Payload bytes that they inherited without storing them again.
    pub saved_bytes: u64,
    /// What their own model calls cost, deleted sessions included.
    pub usage: Usage,
    /// The size of the store's files, for the whole store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store_bytes: Option<u64>,
    /// Sessions whose header cannot be read; they are in no sum.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// Whose usage to report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum UsageScope {
    /// What one session wrote itself.
    Session(SessionId),
    /// Every session of the family of this one.
    Family(SessionId),
    /// Every session of the store.
    Everything,
}

/// What model calls cost, by model and by session. Deleted sessions are not in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageReport {
    /// All of it.
    pub usage: Usage,
    /// By model, the dearest first.
    pub models: Vec<ModelUsage>,
    /// By session, the oldest first, without those that cost nothing.
    pub by_session: Vec<SessionUsage>,
    /// Sessions that cannot be read to their end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// What the calls of one model cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelUsage {
    /// The model, if the records name it.
    pub model: Option<String>,
    /// How many calls.
    pub calls: u64,
    /// Their cost.
    #[serde(flatten)]
    pub usage: Usage,
}

/// What the calls of one session cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionUsage {
    /// The session.
    pub session_id: SessionId,
    /// Its label.
    pub label: Label,
    /// What people call it.
    pub title: Option<String>,
    /// The cost.
    #[serde(flatten)]
    pub usage: Usage,
}

/// The answer of `stats`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatsAnswer {
    /// The sums.
    #[serde(flatten)]
    pub stats: Stats,
    /// What the inherited history of the one session cost; `usage` does not contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherited_usage: Option<Usage>,
    /// The cost by model and by session, if it was asked for.
    #[serde(flatten)]
    pub calls: Option<UsageByModel>,
}

/// What model calls cost, without the sum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageByModel {
    /// By model, the dearest first.
    pub models: Vec<ModelUsage>,
    /// By session, the oldest first, without those that cost nothing.
    pub by_session: Vec<SessionUsage>,
}

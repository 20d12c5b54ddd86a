//! Types of `stats`: counts, the space saved by sharing, and the usage of model calls.

use forklore_core::Usage;
use forklore_core::report::Problem;
use forklore_core::{Label, SessionId};
use serde::{Deserialize, Serialize};

/// Sums over sessions. An event that several sessions share counts once, in the session that wrote
/// it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stats {
    /// The number of sessions that were not deleted.
    pub sessions: u64,
    /// The number of events that these sessions wrote themselves.
    pub own_events: u64,
    /// The number of events that these sessions inherit.
    pub inherited_events: u64,
    /// The total size of the payloads that these sessions wrote themselves, in bytes.
    pub bytes: u64,
    /// The total size of the payloads that these sessions inherit without storing them again, in
    /// bytes.
    pub saved_bytes: u64,
    /// Usage of the model calls of these sessions and of deleted sessions.
    pub usage: Usage,
    /// The total size of the store's files in bytes. Present only for the whole store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store_bytes: Option<u64>,
    /// The problems of sessions whose header cannot be read. These sessions are not part of any
    /// sum.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// The sessions whose usage to report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum UsageScope {
    /// One session. Only what this session wrote itself counts.
    Session(SessionId),
    /// All sessions in the family of this session.
    Family(SessionId),
    /// All sessions of the store.
    Everything,
}

/// Usage of model calls, by model and by session, without deleted sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageReport {
    /// The total usage.
    pub usage: Usage,
    /// Usage by model, the most expensive first.
    pub models: Vec<ModelUsage>,
    /// Usage by session. Originals come before copies, and older sessions before newer ones.
    /// Sessions without usage are left out.
    pub by_session: Vec<SessionUsage>,
    /// The problems of sessions that could not be read completely.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// Usage of one model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelUsage {
    /// The name of the model. `null` if the records do not name it.
    pub model: Option<String>,
    /// The number of calls of this model.
    pub calls: u64,
    /// Usage of these calls.
    #[serde(flatten)]
    pub usage: Usage,
}

/// Usage of one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionUsage {
    /// The id of the session.
    pub session_id: SessionId,
    /// The session's label.
    pub label: Label,
    /// The session's title.
    pub title: Option<String>,
    /// Usage of the session's model calls.
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
    /// Usage recorded in the history that the session inherits. `usage` does not include it.
    /// Present only for a single session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherited_usage: Option<Usage>,
    /// Usage by model and by session, if requested.
    #[serde(flatten)]
    pub calls: Option<UsageByModel>,
}

/// Usage of model calls by model and by session, without the total.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageByModel {
    /// Usage by model, the most expensive first.
    pub models: Vec<ModelUsage>,
    /// Usage by session. Originals come before copies, and older sessions before newer ones.
    /// Sessions without usage are left out.
    pub by_session: Vec<SessionUsage>,
}

//! Types of `stats`: counts, the space saved by sharing, and the usage of model calls.

use forklore_core::Usage;
use forklore_core::report::Problem;
use forklore_core::{Label, SessionId};
use serde::{Deserialize, Serialize};

/// Counts of sessions, events and bytes. An event that several sessions share counts once, in the
/// session that wrote it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stats {
    /// The number of counted sessions, without deleted sessions.
    pub sessions: u64,
    /// The number of events that the counted sessions wrote themselves.
    pub own_events: u64,
    /// The number of events that the counted sessions inherit.
    pub inherited_events: u64,
    /// The total size of the payloads that the counted sessions wrote themselves, in bytes.
    pub bytes: u64,
    /// The total size of the payloads that the counted sessions inherit without storing them again,
    /// in bytes.
    pub saved_bytes: u64,
    /// The tokens and the cost of the model calls of the counted sessions. If the answer also has
    /// usage by model, this is the sum over all models. Otherwise, only calls that have a usage
    /// record of their own in the log are counted. Many agents write no such records. The deleted
    /// sessions of a counted family or store are then included.
    pub usage: Usage,
    /// The total size of the store's files in bytes. Present only if the whole store is counted and
    /// the store supports maintenance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store_bytes: Option<u64>,
    /// The problems of sessions that could not be read completely. A session whose header cannot be
    /// read is not counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// The sessions whose events and usage are counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum UsageScope {
    /// Only this session. Events that it inherits do not count as its own.
    Session(SessionId),
    /// All sessions in the family of this session (the root with all its descendants).
    Family(SessionId),
    /// All sessions of the store.
    Everything,
}

/// The property of model calls by which their usage is grouped. The usage of each group is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UsageGrouping {
    /// By day, such as `2026-01-31`.
    Day,
    /// By week of the ISO calendar, such as `2026-W05`. A week begins on Monday.
    Week,
    /// By model.
    Model,
    /// By the folder to which the session belongs.
    Workspace,
    /// By the agent that called the model.
    Agent,
}

/// Usage (tokens and cost) of model calls, by model and by session. Deleted sessions do not count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageReport {
    /// The total usage of all models and sessions in the report. The cost is that of the calls
    /// whose cost is known: a record states it, or the model has a price.
    pub usage: Usage,
    /// The number of tokens in calls whose cost is not known.
    #[serde(default)]
    pub unpriced_tokens: u64,
    /// Usage by model. The model with the highest cost comes first.
    pub models: Vec<ModelUsage>,
    /// Usage by session, without sessions that have no usage. A session comes before its imported
    /// copies, and an older session before a newer one.
    pub by_session: Vec<SessionUsage>,
    /// Usage by day, week, model, folder or agent, as the request demands. Each call is in one
    /// group. Empty if the request demands no groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<UsageGroup>,
    /// The problems of sessions that could not be read completely.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// Usage (tokens and cost) of one model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelUsage {
    /// The name of the model. `null` if the usage records do not name a model.
    pub model: Option<String>,
    /// The number of calls of this model.
    pub calls: u64,
    /// Total usage of the calls of this model.
    #[serde(flatten)]
    pub usage: Usage,
    /// The number of tokens in calls whose cost is not known. If it is not 0, `cost` is only a part
    /// of the cost.
    #[serde(default)]
    pub unpriced_tokens: u64,
}

/// Usage (tokens and cost) of one group of model calls: of a day, a week, a model, a folder or an
/// agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageGroup {
    /// The name of the group, such as the day or the model. `null` for calls whose records do not
    /// name a model.
    pub key: Option<String>,
    /// The number of model calls.
    pub calls: u64,
    /// Total usage of the calls.
    #[serde(flatten)]
    pub usage: Usage,
    /// The number of tokens in calls whose cost is not known.
    #[serde(default)]
    pub unpriced_tokens: u64,
}

/// Usage (tokens and cost) of one session's model calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionUsage {
    /// The id of the session whose usage this is.
    pub session_id: SessionId,
    /// The session's label.
    pub label: Label,
    /// The session's title. `null` if it has none.
    pub title: Option<String>,
    /// Usage of the session's model calls.
    #[serde(flatten)]
    pub usage: Usage,
    /// The number of tokens in calls whose cost is not known.
    #[serde(default)]
    pub unpriced_tokens: u64,
}

/// The answer of `stats`: counts of sessions, events and bytes, and usage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatsAnswer {
    /// The counts of sessions, events and bytes. In JSON, these counts are direct fields of the
    /// answer.
    #[serde(flatten)]
    pub stats: Stats,
    /// The tokens and the cost of model calls in the inherited part of the session's history. Not
    /// included in `usage`. Present only if a single session is counted and it inherits events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherited_usage: Option<Usage>,
    /// The currency of all costs.
    pub currency: String,
    /// The tokens and the cost of model calls, by model and by session. Absent if the whole store
    /// is counted, unless the request sets `models`.
    #[serde(flatten)]
    pub calls: Option<UsageByModel>,
}

/// The tokens and the cost of model calls, by model and by session. Unlike a `UsageReport`, it has
/// no total.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageByModel {
    /// The number of tokens in calls whose cost is not known. If it is not 0, the cost in `usage`
    /// is only a part of the cost.
    pub unpriced_tokens: u64,
    /// The models whose cost is not known, or known in part only. `null` stands for calls whose
    /// records do not name a model.
    pub unpriced_models: Vec<Option<String>>,
    /// Usage by model. The model with the highest cost comes first.
    pub models: Vec<ModelUsage>,
    /// Usage by session, without sessions that have no usage. A session comes before its imported
    /// copies, and an older session before a newer one.
    pub by_session: Vec<SessionUsage>,
    /// The property by which `groups` groups the calls. Absent if the request demands no groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<UsageGrouping>,
    /// Usage by day, week, model, folder or agent. Each call is in one group, so the groups add up
    /// to the field `usage` of the answer. Empty if the request demands no groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<UsageGroup>,
}

//! What the routes accept and answer.

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The body of `POST .../turns`: begins a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SendTurn {
    /// What the user says. `null` goes on with a turn that was interrupted or that failed.
    #[serde(deserialize_with = "present")]
    pub prompt: Option<String>,
    /// The model that answers, by its name in the configuration. Absent: the one that answered
    /// before, or the default model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Reads a field that may be `null`, but not be missing: whoever forgets it would go on with a turn.
fn present<'de, D: serde::Deserializer<'de>>(field: D) -> Result<Option<String>, D::Error> {
    Option::deserialize(field)
}

/// A turn that began: its prompt is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnBegan {
    /// The session.
    pub session_id: SessionId,
    /// The name of the turn while this server runs.
    pub turn_id: String,
    /// The configured name of the model that answers.
    pub model: String,
}

/// The turn that this server runs in a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnState {
    /// The session.
    pub session_id: SessionId,
    /// The name of the turn. `null` if this server runs none in the session.
    pub turn_id: Option<String>,
    /// The calls that wait for an answer, in the order of the questions.
    pub approvals: Vec<Approval>,
}

/// A tool call that waits for a person's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Approval {
    /// The name of the question, for the answer.
    pub approval_id: String,
    /// The session whose turn needs the answer: this one, or a sub-agent of it.
    pub session_id: SessionId,
    /// The name of the tool. `null` if the question is not about a call.
    pub tool_name: Option<String>,
    /// The arguments of the call, as the model wrote them.
    pub arguments: Value,
    /// The question in words. It may contain text of a session: escape it before you show it.
    pub prompt: String,
}

/// The body of `POST .../approvals/ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AnswerApproval {
    /// What the person decided.
    pub answer: ApprovalChoice,
}

/// A person's decision about a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ApprovalChoice {
    /// This call may run.
    Allow,
    /// This call may run, and so may later calls of the tool in this session until the server ends.
    Always,
    /// The call may not run.
    Deny,
}

/// A question that was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalAnswered {
    /// The name of the question.
    pub approval_id: String,
    /// The decision.
    pub answer: ApprovalChoice,
    /// The name of the token with which the person answered.
    pub by: String,
}

/// Returns the JSON Schemas of what the routes accept and answer, by name.
#[cfg(feature = "schema")]
#[must_use]
pub fn schemas() -> serde_json::Map<String, Value> {
    let mut generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    let _ = generator.subschema_for::<SendTurn>();
    let _ = generator.subschema_for::<TurnBegan>();
    let _ = generator.subschema_for::<TurnState>();
    let _ = generator.subschema_for::<AnswerApproval>();
    let _ = generator.subschema_for::<ApprovalAnswered>();
    generator.take_definitions(true)
}

//! Events about sessions that start, fork and end.

use forklore_core::{Cut, Header, Label, SessionId, SessionKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::TurnStatus;

/// The empty data of events that have no details.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoDetails {}

/// Data of the events `session:start` and `session:resume`: a session begins to run in this
/// process.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionBegan {
    /// The session's kind: root, branch, or delegate (the session of a sub-agent).
    pub kind: SessionKind,
    /// The session's label.
    pub label: Label,
}

/// Data of the event `session:end`: this process closed a session in which it ran turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionEnded {
    /// How the last turn of the session in this process ended.
    pub status: EndStatus,
}

/// How the last turn of a session ended, in Amplifier's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EndStatus {
    /// The model finished its answer.
    Completed,
    /// The turn was interrupted.
    Cancelled,
    /// The turn ended early or failed.
    Failed,
}

impl From<TurnStatus> for EndStatus {
    fn from(status: TurnStatus) -> Self {
        match status {
            TurnStatus::Success => Self::Completed,
            TurnStatus::Cancelled => Self::Cancelled,
            TurnStatus::Incomplete => Self::Failed,
        }
    }
}

/// Data of the event `session:fork`: a child session was created.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionForked {
    /// The parent of the new session.
    pub parent: Option<SessionId>,
    /// The kind of the new session: branch, or delegate (the session of a sub-agent).
    pub kind: SessionKind,
    /// The label of the new session.
    pub label: Label,
    /// The position in the parent's log at which the new session begins.
    pub cut: Option<Cut>,
    /// Metadata of the new session, set by the application. Absent if it set none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    /// Why forklore created the child session on its own. Absent if a caller requested the child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<ForkReason>,
}

/// Why forklore creates a child session that no caller requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ForkReason {
    /// During a turn, the session's lease was lost to another runtime (a process that runs turns),
    /// or the lease expired and another writer appended to the session. The turn continues in the
    /// new child session.
    LeaseLost,
}

impl From<&Header> for SessionForked {
    fn from(child: &Header) -> Self {
        let metadata = child.metadata.as_ref();
        Self {
            parent: child.parent_id.clone(),
            kind: child.kind,
            label: child.label.clone(),
            cut: child.cut.clone(),
            metadata: metadata.map(|data| data.read().unwrap_or_default()),
            reason: None,
        }
    }
}

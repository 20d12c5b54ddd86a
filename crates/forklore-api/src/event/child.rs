//! Sub-agents.

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

use super::TurnUsage;

/// The sub-agent that begins.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DelegateStarted {
    /// The agent's name, where it has one.
    pub agent: Option<String>,
    /// The sub-agent's session.
    pub sub_session_id: SessionId,
    /// The session for which it works.
    pub parent_session_id: SessionId,
    /// The call that asked for it, where one did.
    pub tool_call_id: Option<String>,
}

/// The sub-agent that ended.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DelegateEnded {
    /// Which one.
    #[serde(flatten)]
    pub delegate: DelegateStarted,
    /// Whether it has a whole result.
    pub success: bool,
    /// Why it has none.
    pub error: Option<String>,
    /// What its turn took, where it had one.
    pub usage: Option<TurnUsage>,
}

//! Events about sub-agents.

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

use super::TurnUsage;

/// Data of the events `delegate:agent_spawned` and `delegate:agent_resumed`: a sub-agent gets a
/// task.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DelegateStarted {
    /// The name of the sub-agent. `null` if it has no name.
    pub agent: Option<String>,
    /// The session in which the sub-agent works.
    pub sub_session_id: SessionId,
    /// The session that delegated the work to the sub-agent.
    pub parent_session_id: SessionId,
    /// The id of the tool call that requested the sub-agent. `null` if no tool call requested it.
    pub tool_call_id: Option<String>,
}

/// Data of the events `delegate:agent_completed` and `delegate:error`: a sub-agent's task ended.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DelegateEnded {
    /// The sub-agent whose task ended.
    #[serde(flatten)]
    pub delegate: DelegateStarted,
    /// Whether the sub-agent completed its turn.
    pub success: bool,
    /// Why the sub-agent failed. `null` if it succeeded.
    pub error: Option<String>,
    /// Usage (tokens and cost) of the sub-agent's turn. `null` if the sub-agent ran no turn.
    pub usage: Option<TurnUsage>,
}

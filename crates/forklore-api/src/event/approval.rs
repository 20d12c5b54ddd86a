//! Events about approvals by the user and about hooks that fail.

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

use super::CalledTool;

/// A question that the user must answer.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalQuestion {
    /// The session that needs the approval.
    pub session: SessionId,
    /// The tool call that needs the approval. `null` if the question is not about a tool call.
    pub call: Option<CalledTool>,
    /// The question. It may contain untrusted text of a session: escape it before you display it.
    pub prompt: String,
}

/// The user's answer to a request for approval.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalAnswer {
    /// The id of the tool call that the answer is about. `null` if the request was not about a tool
    /// call.
    pub tool_call_id: Option<String>,
    /// Why the user denied the request. `null` if the user approved it.
    pub reason: Option<String>,
}

/// A hook that failed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookFailure {
    /// The name of the hook.
    pub hook: String,
    /// The name of the decision point at which the hook ran.
    pub gate: String,
    /// Why the hook failed.
    pub error: String,
}

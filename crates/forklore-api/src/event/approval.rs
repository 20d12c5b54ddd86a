//! Events about approvals by the user and about hooks that fail.

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

use super::CalledTool;

/// Data of the event `approval:required`: a question that the user must answer before the turn
/// continues.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalQuestion {
    /// The session whose turn needs the approval.
    pub session: SessionId,
    /// The tool call that needs the approval. `null` if the question is not about a tool call.
    pub call: Option<CalledTool>,
    /// The text of the question. It may contain untrusted text of a session: escape it before you
    /// display it.
    pub prompt: String,
}

/// Data of the events `approval:granted` and `approval:denied`: the user's answer to a request for
/// approval.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalAnswer {
    /// The id of the tool call that the user approved or denied. `null` if the user approved or
    /// denied something other than a tool call.
    pub tool_call_id: Option<String>,
    /// The user's note on the approval, or the user's reason for the denial. `null` if the user
    /// wrote no note.
    pub reason: Option<String>,
}

/// Data of the event `hook:error`: a hook (code of the application that the kernel calls) failed
/// and was skipped.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookFailure {
    /// The name of the failed hook.
    pub hook: String,
    /// What the hook had to check, in words: for example `the prompt`, or `the call` for a tool
    /// call.
    pub gate: String,
    /// Why the hook failed.
    pub error: String,
}

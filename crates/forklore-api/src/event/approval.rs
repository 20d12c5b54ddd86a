//! People who are asked, and hooks that fail.

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

use super::CalledTool;

/// The question for the person.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalQuestion {
    /// The session in which it arose.
    pub session: SessionId,
    /// The call that it is about, where it is about one.
    pub call: Option<CalledTool>,
    /// The question. It may hold text of a session: escape it where it is shown.
    pub prompt: String,
}

/// The answer of the person.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalAnswer {
    /// The call that it is about, where it is about one.
    pub tool_call_id: Option<String>,
    /// Why not, of a no.
    pub reason: Option<String>,
}

/// The hook that failed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookFailure {
    /// The hook's name.
    pub hook: String,
    /// What it was asked about.
    pub gate: String,
    /// Why it failed.
    pub error: String,
}

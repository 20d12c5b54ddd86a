//! A tool that is called, and what it answers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The call that is about to be carried out.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolInput {
    /// The call's id.
    pub tool_call_id: String,
    /// The tool's name.
    pub tool_name: String,
    /// The arguments.
    pub tool_input: Value,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolResult {
    /// The call's id.
    pub tool_call_id: String,
    /// The tool's name.
    pub tool_name: String,
    /// What the tool says: a text, or a list of parts.
    pub result: Value,
    /// Whether it failed.
    pub is_error: bool,
}

/// The progress of a call.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolProgress {
    /// The call's id.
    pub tool_call_id: String,
    /// The tool's name.
    pub tool_name: String,
    /// How far it is.
    pub step: ToolStep,
}

/// How far a call is, as its tool says: for people who wait, never for the log.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolStep {
    /// How much is done; grows.
    pub done: f64,
    /// How much there is to do, where known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<String>,
}

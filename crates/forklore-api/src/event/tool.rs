//! Events about tool calls and their results.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool call that is about to run.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolInput {
    /// The id of the call.
    pub tool_call_id: String,
    /// The name of the tool.
    pub tool_name: String,
    /// The arguments of the call.
    pub tool_input: Value,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolResult {
    /// The id of the call.
    pub tool_call_id: String,
    /// The name of the tool.
    pub tool_name: String,
    /// The output of the tool: a string or a list of parts.
    pub result: Value,
    /// Whether the call failed.
    pub is_error: bool,
}

/// The progress of a tool call.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolProgress {
    /// The id of the call.
    pub tool_call_id: String,
    /// The name of the tool.
    pub tool_name: String,
    /// The progress that the tool reports.
    pub step: ToolStep,
}

/// Progress that a tool reports. It is for display only, and is never stored in the log.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolStep {
    /// The amount of work done so far, in the unit of `total`. It increases with each report.
    pub done: f64,
    /// The total amount of work, in a unit that the tool chooses. `null` if unknown.
    pub total: Option<f64>,
    /// What the tool is doing.
    pub message: Option<String>,
}

//! Events about tool calls and their results.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Data of the event `tool:pre`: a tool call is about to run.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolInput {
    /// The id of the tool call.
    pub tool_call_id: String,
    /// The name of the called tool.
    pub tool_name: String,
    /// The arguments of the tool call.
    pub tool_input: Value,
}

/// Data of the events `tool:post` and `tool:error`: the result of a tool call.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolResult {
    /// The id of the tool call.
    pub tool_call_id: String,
    /// The name of the called tool.
    pub tool_name: String,
    /// The output of the tool: a string or a list of parts.
    pub result: Value,
    /// Whether the tool call failed.
    pub is_error: bool,
}

/// Data of the event `tool:progress`: a running tool reports its progress.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolProgress {
    /// The id of the tool call.
    pub tool_call_id: String,
    /// The name of the called tool.
    pub tool_name: String,
    /// How far the tool call has progressed, as the tool reports it.
    pub step: ToolStep,
}

/// The progress of a running tool call, as the tool reports it. It is only for display and is never
/// stored.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolStep {
    /// The amount of work done so far, in the unit of `total`. It increases with each report.
    pub done: f64,
    /// The total amount of work, in a unit that the tool chooses. `null` if unknown.
    pub total: Option<f64>,
    /// A short text in which the tool says what it is doing. `null` if the tool sends none.
    pub message: Option<String>,
}

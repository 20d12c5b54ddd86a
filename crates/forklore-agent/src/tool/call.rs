//! The description of a tool, and a call of a tool.

use forklore_core::Data;
use serde::Serialize;
use serde_json::Value;

use crate::notify::event::CalledTool;

/// The description of a tool that the model receives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolSpec {
    /// The name with which the model calls the tool.
    pub name: String,
    /// What the tool does, in words for the model.
    pub description: String,
    /// The JSON schema of the tool's arguments.
    pub parameters: Data,
}

/// A tool call, as the model wrote it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolCall {
    /// The id of the call, unique in the answer that contains it.
    pub id: String,
    /// The name of the called tool.
    pub name: String,
    /// The arguments, verbatim. They may not match the tool's schema.
    pub arguments: Data,
}

impl ToolCall {
    /// Returns the call in the form in which notifications report it.
    pub(crate) fn to_event(&self) -> CalledTool {
        let (id, name) = (self.id.clone(), self.name.clone());
        CalledTool { id, name, arguments: to_value(&self.arguments) }
    }
}

/// Converts JSON to a [`Value`] for a notification. Invalid JSON becomes null.
pub(crate) fn to_value(data: &Data) -> Value {
    data.read().unwrap_or_default()
}

//! The user's rules for tool calls: which calls are allowed, which are denied, and which need
//! approval.

use std::fmt;
use std::sync::Arc;

use forklore_agent::approve::{Policy, Rule};
use forklore_agent::tool::ToolCall;
use serde::Deserialize;

use crate::McpTools;

/// The user's rules for tool calls, as lists of patterns.
///
/// If several patterns match a tool, the most restrictive rule applies: `deny` before `ask` before
/// `allow`. A tool that no pattern matches needs approval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {
    /// Patterns of the tools whose calls are allowed without approval.
    pub allow: Vec<Pattern>,
    /// Patterns of the tools whose calls need approval each time.
    pub ask: Vec<Pattern>,
    /// Patterns of the tools whose calls are denied without asking a person.
    pub deny: Vec<Pattern>,
}

impl Rules {
    /// Returns the rule for calls of a tool. `tool` is its name in the form `server.tool`.
    #[must_use]
    pub fn of(&self, tool: &str) -> Rule {
        let fits = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.fits(tool));
        if fits(&self.deny) {
            Rule::Deny
        } else if fits(&self.ask) || !fits(&self.allow) {
            Rule::Ask
        } else {
            Rule::Allow
        }
    }
}

/// A policy that applies rules to the tools of servers. A tool that belongs to no server, such as
/// `delegate`, is matched by its plain name.
#[derive(Clone)]
pub struct UserPolicy {
    rules: Rules,
    tools: Arc<McpTools>,
}

impl UserPolicy {
    /// Creates a policy that applies `rules` to `tools`.
    #[must_use]
    pub fn new(rules: Rules, tools: Arc<McpTools>) -> Self {
        Self { rules, tools }
    }
}

impl Policy for UserPolicy {
    fn rule(&self, call: &ToolCall) -> Rule {
        self.rules.of(&self.permission(call))
    }

    /// Returns the name of the called tool in the form `server.tool`. A session's ceiling (the
    /// permissions in its header) uses this form (docs/semantics.md, Fork).
    fn permission(&self, call: &ToolCall) -> String {
        self.tools.find(&call.name).map_or_else(|| call.name.clone(), |tool| tool.to_string())
    }
}

/// The tools that belong to no server.
const BUILT_IN: [&str; 1] = ["delegate"];

/// A pattern for the names of tools, in the form `server.tool`. A `*` in the pattern matches any
/// text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern(String);

/// The error for a pattern that cannot match any tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a pattern is `server.tool`, such as `files.read_*`, `files.*`, `*` or `delegate`")]
pub struct PatternError;

impl TryFrom<String> for Pattern {
    type Error = PatternError;

    /// Checks a pattern. Rejects the name of a server alone: such a pattern would match no tool,
    /// but would look as if it matched all tools of the server.
    fn try_from(text: String) -> Result<Self, PatternError> {
        let fits_something = text.contains(['.', '*']) || BUILT_IN.contains(&text.as_str());
        if fits_something { Ok(Self(text)) } else { Err(PatternError) }
    }
}

impl std::str::FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        text.to_owned().try_into()
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Pattern {
    /// Checks whether the pattern matches a tool's whole name.
    #[must_use]
    pub fn fits(&self, tool: &str) -> bool {
        forklore_core::price::fits(&self.0, tool)
    }
}

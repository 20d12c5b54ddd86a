//! Which calls are carried out, refused or asked about.

use std::fmt;
use std::sync::Arc;

use forklore_agent::approve::{Policy, Rule};
use forklore_agent::tool::ToolCall;
use serde::Deserialize;

use crate::McpTools;

/// What the user's configuration says about calls: lists of patterns.
///
/// Of all patterns that fit a tool the most restrictive decides: `deny` before `ask` before
/// `allow`. A tool that no pattern fits is asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {
    /// Carried out without asking.
    pub allow: Vec<Pattern>,
    /// Asked about each time.
    pub ask: Vec<Pattern>,
    /// Refused without asking.
    pub deny: Vec<Pattern>,
}

impl Rules {
    /// What is done with a call of this tool, named `server.tool`.
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

/// Rules over the tools of servers, as the kernel asks for them. What is no tool of a server, such
/// as `delegate`, has its own name.
#[derive(Clone)]
pub struct UserPolicy {
    rules: Rules,
    tools: Arc<McpTools>,
}

impl UserPolicy {
    /// These rules for these tools.
    #[must_use]
    pub fn new(rules: Rules, tools: Arc<McpTools>) -> Self {
        Self { rules, tools }
    }
}

impl Policy for UserPolicy {
    fn rule(&self, call: &ToolCall) -> Rule {
        self.rules.of(&self.permission(call))
    }

    /// A session's ceiling names tools as `server.tool` (SPEC 6).
    fn permission(&self, call: &ToolCall) -> String {
        self.tools.find(&call.name).map_or_else(|| call.name.clone(), |tool| tool.to_string())
    }
}

/// The tools that come from no server.
const BUILT_IN: [&str; 1] = ["delegate"];

/// `server.tool`, in which `*` stands for any text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern(String);

/// A pattern that fits nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a pattern is `server.tool`, such as `files.read_*`, `files.*`, `*` or `delegate`")]
pub struct PatternError;

impl TryFrom<String> for Pattern {
    type Error = PatternError;

    /// A server's name alone would look as if it meant all its tools, and fit none.
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
    /// Whether the pattern describes this tool.
    #[must_use]
    pub fn fits(&self, tool: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = tool.strip_prefix(first) else { return false };
        let Some(last) = parts.next_back() else { return rest.is_empty() };
        for part in parts {
            // The first place is as good as any later one: it leaves the most behind it.
            let Some((_, after)) = rest.split_once(part) else { return false };
            rest = after;
        }
        rest.ends_with(last)
    }
}

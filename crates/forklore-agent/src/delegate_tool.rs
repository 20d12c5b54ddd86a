//! A ready-made tool with which a model delegates work to sub-agents.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use forklore_core::{Data, Header};
use serde::Deserialize;
use serde_json::json;

use crate::config::{Budget, SessionConfig};
use crate::delegation::{Delegate, Delegation};
use crate::permissions::{Below, Ceiling, permission};
use crate::tool::{ToolCall, ToolSpec};

/// The name of the delegation tool, with which a model starts sub-agents.
pub const DELEGATE: &str = "delegate";

/// Maximum length of a sub-agent's name in characters. A longer name is truncated.
const NAME: usize = 80;

/// Limits of delegation to sub-agents, as the user's configuration contains them. `None` means no
/// limit.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// How deep sub-agents may nest. With 1, only the session that a person talks to can have
    /// sub-agents. With 0, no session can have sub-agents.
    pub depth: u32,
    /// Maximum number of model calls in a sub-agent's turn.
    pub model_calls: u32,
    /// Maximum number of tokens in a sub-agent's turn, input and output together.
    pub tokens: Option<u64>,
    /// Maximum cost of a sub-agent's turn, in the currency of the prices.
    pub cost: Option<f64>,
    /// Maximum duration of a sub-agent's turn, in seconds.
    pub seconds: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 2, model_calls: 50, tokens: None, cost: None, seconds: None }
    }
}

/// A delegation tool, with which a model starts sub-agents. They have the caller's model and tools,
/// a fresh context and a separate budget. A call may restrict the sub-agent to the tools that the
/// task needs. A sub-agent never has more permissions than its parent.
#[derive(Clone, Debug)]
pub struct DelegateTool {
    limits: Limits,
    /// The nesting depth of the session that has this tool. A session that is not a sub-agent has
    /// depth 0.
    depth: u32,
}

/// The arguments of a call of the delegation tool. Such a call starts a sub-agent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `task`")]
struct Arguments {
    task: String,
    name: Option<String>,
    tools: Option<BTreeSet<String>>,
}

impl DelegateTool {
    /// Returns the tool with which a model starts sub-agents, for a session that is not itself a
    /// sub-agent. Returns `None` if `limits` allows no sub-agents.
    #[must_use]
    pub fn within(limits: Limits) -> Option<Arc<dyn Delegation>> {
        Self { limits, depth: 0 }.offered()
    }

    fn offered(self) -> Option<Arc<dyn Delegation>> {
        if self.depth < self.limits.depth { Some(Arc::new(self)) } else { None }
    }

    fn budget(&self) -> Budget {
        Budget {
            model_calls: Some(self.limits.model_calls),
            tokens: self.limits.tokens,
            cost: self.limits.cost,
            time: self.limits.seconds.map(Duration::from_secs),
        }
    }

    fn below(&self) -> Option<Arc<dyn Delegation>> {
        Self { depth: self.depth + 1, ..self.clone() }.offered()
    }
}

impl Delegation for DelegateTool {
    fn spec(&self) -> ToolSpec {
        let parameters = json!({
            "type": "object",
            "properties": {
                "task": {"type": "string", "description": "What is to be done, with everything that \
                    has to be found for it: the sub-agent sees nothing of this conversation."},
                "name": {"type": "string", "description": "A short name for it, for people."},
                "tools": {"type": "array", "items": {"type": "string"}, "description": "The names \
                    of the tools that it needs; all of yours where this is left out."},
            },
            "required": ["task"],
            "additionalProperties": false,
        });
        ToolSpec {
            name: DELEGATE.to_owned(),
            description: "Has a sub-agent with a fresh context do a piece of work. What it says \
                          last is the result. Several calls at once work side by side."
                .to_owned(),
            parameters: Data::of(&parameters).unwrap_or_else(|_| Data::null()),
        }
    }

    fn plan(
        &self,
        call: &ToolCall,
        header: &Header,
        config: &SessionConfig,
    ) -> Result<Delegate, String> {
        let arguments: Arguments =
            call.arguments.readable().read().map_err(|why| format!("the arguments: {why}"))?;
        if arguments.task.trim().is_empty() {
            return Err("the task is empty".to_owned());
        }
        let policy = &config.policy;
        let named = arguments.tools.map(|names| {
            names.iter().map(|name| permission(&**policy, name)).collect::<BTreeSet<_>>()
        });
        let ceiling = Ceiling::from(header.permissions.clone()).and(&named.into());
        let below = self.below().filter(|_| ceiling.allows(&permission(&**policy, DELEGATE)));
        let tools = Below::new(config.tools.clone(), policy.clone(), ceiling.clone());
        let config = SessionConfig { tools: Arc::new(tools), delegation: below, ..config.clone() };
        let name = arguments.name.map(|name| name.chars().take(NAME).collect::<String>());
        Ok(Delegate {
            agent: name.clone(),
            title: name,
            permissions: ceiling.into_permissions(),
            session_config: Some(config),
            budget: self.budget(),
            ..Delegate::new(&arguments.task)
        })
    }
}

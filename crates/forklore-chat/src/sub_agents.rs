//! The tool by which a model hands work to sub-agents.

use std::sync::Arc;

use forklore_agent::Equipment;
use forklore_agent::session::{Budget, Delegate, Delegation};
use forklore_agent::tool::{ToolCall, ToolSpec};
use forklore_model::{Data, Header};
use serde::Deserialize;

const DESCRIPTION: &str = "Hand a piece of work to a sub-agent. It starts with a fresh context and \
    knows nothing of this conversation, so say everything that it has to know. Its last answer \
    comes back as the result.";
const PARAMETERS: &str = r#"{"type":"object","properties":{"task":{"type":"string","description":"What the sub-agent is to do, complete in itself"}},"required":["task"],"additionalProperties":false}"#;
/// How often a sub-agent may ask its model.
const MODEL_CALLS: u32 = 50;

/// Sub-agents that may go so deep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubAgents {
    depth: u32,
}

impl SubAgents {
    /// Sub-agents down to a depth; at 0 there are none.
    pub(crate) fn down_to(depth: u32) -> Option<Arc<dyn Delegation>> {
        (depth > 0).then(|| Arc::new(Self { depth }) as Arc<dyn Delegation>)
    }
}

impl Delegation for SubAgents {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "delegate".to_owned(),
            description: DESCRIPTION.to_owned(),
            parameters: Data::from_checked(PARAMETERS.to_owned()),
        }
    }

    fn plan(&self, call: &ToolCall, _: &Header, equipment: &Equipment) -> Result<Delegate, String> {
        #[derive(Deserialize)]
        struct Arguments {
            task: String,
        }
        let Arguments { task } =
            call.arguments.read().map_err(|error| format!("`task` is missing: {error}"))?;
        let below = Equipment { delegation: Self::down_to(self.depth - 1), ..equipment.clone() };
        Ok(Delegate {
            equipment: Some(below),
            budget: Budget { model_calls: Some(MODEL_CALLS), ..Budget::default() },
            ..Delegate::new(&task)
        })
    }
}

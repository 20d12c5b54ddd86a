//! The port that decides about sub-agents. It converts a tool call to a task, and chooses the
//! configuration with which the sub-agent works.

use std::collections::BTreeSet;
use std::sync::Arc;

use forklore_core::{Data, Header, Label, SessionId};

use crate::config::{Budget, SessionConfig};
use crate::tool::call::{ToolCall, ToolSpec};
use crate::turn::Turn;

/// A task for a sub-agent. The application derives the sub-agent's configuration from the
/// configuration of its parent.
#[derive(Clone)]
pub struct Delegate {
    /// The task, in the form of the sub-agent's prompt.
    pub prompt: String,
    /// The name of the sub-agent, to show to people; `None` if it has no name.
    pub agent: Option<String>,
    /// The id of an existing sub-agent of the delegating session. This sub-agent receives the
    /// prompt, and the fields `id` to `permissions` are ignored. `None` creates a new sub-agent.
    pub resume: Option<SessionId>,
    /// The id of the sub-agent's session; `None` generates one.
    pub id: Option<SessionId>,
    /// The label of the sub-agent's session; `None` generates one.
    pub label: Option<Label>,
    /// The title of the sub-agent's session; `None` gives it no title.
    pub title: Option<String>,
    /// Opaque data that is stored in the header of the sub-agent's session as its configuration;
    /// `None` stores nothing. The data has no effect on the sub-agent, which works with
    /// `session_config`.
    pub config: Option<Data>,
    /// The application's metadata that is stored with the sub-agent's session; `None` stores none.
    pub metadata: Option<Data>,
    /// The permissions of the sub-agent's session, a subset of its parent's; `None` inherits them.
    pub permissions: Option<BTreeSet<String>>,
    /// The model, tools and settings of the sub-agent; `None` inherits its parent's.
    pub session_config: Option<SessionConfig>,
    /// The budget of the sub-agent's turn.
    pub budget: Budget,
}

impl Delegate {
    /// Returns a task for a new sub-agent that inherits everything from its parent except the
    /// budget.
    #[must_use]
    pub fn new(prompt: &str) -> Self {
        Self {
            prompt: prompt.to_owned(),
            agent: None,
            resume: None,
            id: None,
            label: None,
            title: None,
            config: None,
            metadata: None,
            permissions: None,
            session_config: None,
            budget: Budget::default(),
        }
    }
}

/// A finished delegation: the sub-agent's session and the result of its turn.
#[derive(Debug)]
#[must_use]
pub struct Delegated {
    /// The id of the sub-agent's session.
    pub session_id: SessionId,
    /// The result of the sub-agent's turn, or the error with which the turn failed.
    pub turn: crate::Result<Turn>,
}

/// Offers delegation to the model as a tool. Decides how deep sub-agents may nest, and chooses
/// their configuration.
pub trait Delegation: Send + Sync {
    /// Returns the specification of the delegation tool for the model.
    fn spec(&self) -> ToolSpec;

    /// Converts a call of the delegation tool to a task. `header` and `config` belong to the
    /// session that makes the call. This session becomes the parent of the sub-agent.
    ///
    /// # Errors
    /// If the call is refused, returns the reason as a message for the model.
    fn plan(
        &self,
        call: &ToolCall,
        header: &Header,
        config: &SessionConfig,
    ) -> Result<Delegate, String>;
}

/// Returns the object that handles this call if the delegation tool is called. Otherwise returns
/// `None`.
pub(crate) fn delegation_of(
    config: &SessionConfig,
    call: &ToolCall,
) -> Option<Arc<dyn Delegation>> {
    config.delegation.clone().filter(|delegation| delegation.spec().name == call.name)
}

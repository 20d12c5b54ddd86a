//! The port that decides about sub-agents: what a tool call requests, and with which configuration
//! the sub-agent works.

use std::collections::BTreeSet;
use std::sync::Arc;

use forklore_core::{Data, Header, Label, SessionId};

use crate::config::{Budget, SessionConfig};
use crate::tool::{ToolCall, ToolSpec};

/// A task for a sub-agent. The application decides how its configuration is derived from its
/// parent's.
#[derive(Clone)]
pub struct Delegate {
    /// The task, as the sub-agent's prompt.
    pub prompt: String,
    /// The agent's name, for people who watch.
    pub agent: Option<String>,
    /// An existing sub-agent of this session that gets this prompt. Its id, label, title,
    /// configuration, metadata and permissions stay unchanged.
    pub resume: Option<SessionId>,
    /// The id of its session; `None` generates one.
    pub id: Option<SessionId>,
    /// The label of its session.
    pub label: Option<Label>,
    /// The title of its session.
    pub title: Option<String>,
    /// The configuration stored with its session.
    pub config: Option<Data>,
    /// The application's metadata, stored with its session.
    pub metadata: Option<Data>,
    /// The permissions of its session, a subset of its parent's; `None` inherits them.
    pub permissions: Option<BTreeSet<String>>,
    /// What it runs with; `None` inherits its parent's.
    pub session_config: Option<SessionConfig>,
    /// The budget of its turn.
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

/// Offers delegation to the model as a tool. It decides how deep sub-agents may nest and which
/// configuration they get.
pub trait Delegation: Send + Sync {
    /// Returns the tool as the model sees it.
    fn spec(&self) -> ToolSpec;

    /// Converts a call into a task; the child's parent is the session of `header`.
    ///
    /// # Errors
    /// Why the call is refused, as a text for the model.
    fn plan(
        &self,
        call: &ToolCall,
        header: &Header,
        config: &SessionConfig,
    ) -> Result<Delegate, String>;
}

/// Returns the session's delegation tool if the call is addressed to it.
pub(crate) fn delegation_of(
    config: &SessionConfig,
    call: &ToolCall,
) -> Option<Arc<dyn Delegation>> {
    config.delegation.clone().filter(|delegation| delegation.spec().name == call.name)
}

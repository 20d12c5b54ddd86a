//! The port to whoever decides about sub-agents: what a call asks for, and with what it is done.

use std::collections::BTreeSet;
use std::sync::Arc;

use forklore_core::{Data, Header, Label, SessionId};

use crate::config::{Budget, SessionConfig};
use crate::tool::{ToolCall, ToolSpec};

/// A piece of work for a sub-agent. How its configuration comes from its parent's is the
/// application's matter.
#[derive(Clone)]
pub struct Delegate {
    /// What it is to do.
    pub prompt: String,
    /// The name of the agent, for people who watch.
    pub agent: Option<String>,
    /// A sub-agent of this session that was there before and is given more to do; its id, label and
    /// so on stay as they are.
    pub resume: Option<SessionId>,
    /// Its id; none generates one.
    pub id: Option<SessionId>,
    /// Its label.
    pub label: Option<Label>,
    /// What it is called.
    pub title: Option<String>,
    /// Its configuration.
    pub config: Option<Data>,
    /// The application's notes.
    pub metadata: Option<Data>,
    /// What it may do at most, a subset of what its parent may; none is all of that.
    pub permissions: Option<BTreeSet<String>>,
    /// What it works with; none is what its parent works with.
    pub session_config: Option<SessionConfig>,
    /// What it may take.
    pub budget: Budget,
}

impl Delegate {
    /// A sub-agent that works with what its parent works with.
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

/// Lets the model hand work to sub-agents, as a tool of this name. How deep that goes, and with
/// what they work, it decides.
pub trait Delegation: Send + Sync {
    /// The tool as the model sees it.
    fn spec(&self) -> ToolSpec;

    /// What a call asks for; the child's parent is the session of `header`.
    ///
    /// # Errors
    /// Why it is not done, in words for the model.
    fn plan(
        &self,
        call: &ToolCall,
        header: &Header,
        config: &SessionConfig,
    ) -> Result<Delegate, String>;
}

/// The session's delegation tool, if it has one and the call is of it.
pub(crate) fn delegation_of(
    config: &SessionConfig,
    call: &ToolCall,
) -> Option<Arc<dyn Delegation>> {
    config.delegation.clone().filter(|delegation| delegation.spec().name == call.name)
}

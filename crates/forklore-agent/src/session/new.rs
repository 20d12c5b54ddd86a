//! What a session is made of.

use std::collections::BTreeSet;

use forklore_core::workspace::Workspace;
use forklore_core::{Data, Label, SessionId};

/// A session that is to be made.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// Its configuration: opaque, stored with it.
    pub config: Option<Data>,
    /// Its id; none generates one.
    pub id: Option<SessionId>,
    /// The session it is a child of; none makes a root. It begins with an empty context: a child
    /// that inherits the history is made by [`fork`](crate::AgentSession::fork).
    pub parent_id: Option<SessionId>,
    /// Its folder.
    pub workspace: Workspace,
    /// What it is called.
    pub title: Option<String>,
    /// A child's label.
    pub label: Option<Label>,
    /// The application's notes.
    pub metadata: Option<Data>,
    /// For whom it acts; none inherits.
    pub principal: Option<String>,
    /// What it may do at most; none inherits.
    pub permissions: Option<BTreeSet<String>>,
}

impl NewSession {
    /// A root in `workspace`, with every default.
    #[must_use]
    pub fn in_workspace(workspace: Workspace) -> Self {
        Self {
            config: None,
            id: None,
            parent_id: None,
            workspace,
            title: None,
            label: None,
            metadata: None,
            principal: None,
            permissions: None,
        }
    }
}

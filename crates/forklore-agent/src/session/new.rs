//! The properties of a session to be created.

use std::collections::BTreeSet;

use forklore_core::workspace::Workspace;
use forklore_core::{Data, Label, SessionId};

/// The properties of a session to be created.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// Its configuration: opaque data stored with the session.
    pub config: Option<Data>,
    /// Its id; `None` generates one.
    pub id: Option<SessionId>,
    /// The session's parent; `None` makes a root. The session begins with an empty context. To
    /// inherit the parent's history, use [`fork`](crate::AgentSession::fork) instead.
    pub parent_id: Option<SessionId>,
    /// Its workspace.
    pub workspace: Workspace,
    /// Its title.
    pub title: Option<String>,
    /// Its label, for a child.
    pub label: Option<Label>,
    /// The application's metadata.
    pub metadata: Option<Data>,
    /// The principal for whom it acts; `None` inherits the parent's.
    pub principal: Option<String>,
    /// The permissions that it can have at most; `None` inherits the parent's.
    pub permissions: Option<BTreeSet<String>>,
}

impl NewSession {
    /// Returns a root in `workspace`, with defaults for everything else.
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

//! The properties of a session that is to be created.

use std::collections::BTreeSet;

use forklore_core::workspace::Workspace;
use forklore_core::{Data, Label, SessionId};

/// The properties of a session that is to be created.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// The configuration of the session: opaque data that is stored with the session. `None` stores
    /// none.
    pub config: Option<Data>,
    /// The id of the session; `None` generates one.
    pub id: Option<SessionId>,
    /// The parent of the session; `None` creates a root. A child created this way is a delegate: it
    /// starts with an empty context. To inherit the parent's history, use
    /// [`fork`](crate::AgentSession::fork).
    pub parent_id: Option<SessionId>,
    /// The workspace of the session.
    pub workspace: Workspace,
    /// The title of the session; `None` gives it no title.
    pub title: Option<String>,
    /// The label of the session. With `None`, a root gets the label `main`. A child then gets a
    /// label that is derived from its id.
    pub label: Option<Label>,
    /// The application's metadata, stored with the session; `None` stores none.
    pub metadata: Option<Data>,
    /// The principal on whose behalf the session acts. With `None`, a child inherits its parent's,
    /// and a root has none.
    pub principal: Option<String>,
    /// The permission ceiling: the permissions that the session can have. With `None`, a child
    /// inherits its parent's ceiling, and a root has no limit.
    pub permissions: Option<BTreeSet<String>>,
}

impl NewSession {
    /// Returns the properties of a root in `workspace`, with defaults for all other fields.
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

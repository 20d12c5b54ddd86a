//! Where a conversation begins.

use std::time::Duration;

use forklore_core::SessionId;
use forklore_core::workspace::Workspace;

/// Where a conversation begins, and how.
#[derive(Clone, Debug)]
pub struct Start {
    /// The session to continue. None begins a new one.
    pub session: Option<SessionId>,
    /// The title of a new session.
    pub title: Option<String>,
    /// The folder that new sessions belong to.
    pub workspace: Workspace,
    /// The model that answers. None is the default.
    pub model: Option<String>,
    /// How long a turn waits for a session in which another program runs one.
    pub lease_wait: Duration,
}

impl Start {
    /// A new session in a folder, answered by the default model.
    #[must_use]
    pub fn in_workspace(workspace: Workspace) -> Self {
        Self { session: None, title: None, workspace, model: None, lease_wait: Duration::ZERO }
    }

    /// The same in a stored session.
    #[must_use]
    pub fn session(self, id: SessionId) -> Self {
        Self { session: Some(id), ..self }
    }
}

//! How a conversation begins.

use std::time::Duration;

use forklore_core::SessionId;
use forklore_core::workspace::Workspace;

/// The session, model and options with which a conversation begins.
#[derive(Clone, Debug)]
pub struct Start {
    /// The session to continue. `None` creates a new one.
    pub session: Option<SessionId>,
    /// The title of a new session.
    pub title: Option<String>,
    /// The workspace of new sessions.
    pub workspace: Workspace,
    /// The model that answers, by its name in the configuration. `None` is the default model.
    pub model: Option<String>,
    /// How long a turn waits for a session in which another program runs a turn.
    pub lease_wait: Duration,
}

impl Start {
    /// A new session in a workspace, answered by the default model.
    #[must_use]
    pub fn in_workspace(workspace: Workspace) -> Self {
        Self { session: None, title: None, workspace, model: None, lease_wait: Duration::ZERO }
    }

    /// Continues a stored session instead.
    #[must_use]
    pub fn session(self, id: SessionId) -> Self {
        Self { session: Some(id), ..self }
    }
}

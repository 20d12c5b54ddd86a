//! The options with which a conversation begins.

use std::time::Duration;

use forklore_core::SessionId;
use forklore_core::workspace::Workspace;

/// The session, model and options with which a conversation begins.
#[derive(Clone, Debug)]
pub struct Start {
    /// The session to continue. `None` creates a new session.
    pub session: Option<SessionId>,
    /// The title of the new session. Unused if `session` names a session to continue.
    pub title: Option<String>,
    /// The workspace of new sessions.
    pub workspace: Workspace,
    /// The configured name of the model that answers. `None` is the default model.
    pub model: Option<String>,
    /// How long a turn waits while another program runs a turn in the session.
    pub lease_wait: Duration,
}

impl Start {
    /// Returns the options for a new session in a workspace, with the default model.
    #[must_use]
    pub fn in_workspace(workspace: Workspace) -> Self {
        Self { session: None, title: None, workspace, model: None, lease_wait: Duration::ZERO }
    }

    /// Continues the stored session `id` instead of creating a session.
    #[must_use]
    pub fn session(self, id: SessionId) -> Self {
        Self { session: Some(id), ..self }
    }
}

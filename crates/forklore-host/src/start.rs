//! The options with which a conversation begins.

use std::time::Duration;

use forklore_api::TurnRequest;
use forklore_core::SessionId;
use forklore_core::workspace::Workspace;

/// The session, model and options with which a conversation begins.
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl From<&TurnRequest> for Start {
    fn from(request: &TurnRequest) -> Self {
        Self {
            session: request.session_id.clone(),
            title: request.title.clone(),
            workspace: request.workspace.clone(),
            model: request.model.clone(),
            lease_wait: Duration::from_secs(request.wait_seconds),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_begins_as_its_request_says() {
        let workspace = Workspace::new("/demo");
        let new = TurnRequest::in_workspace(workspace.clone(), "hello".into());
        assert_eq!(Start::from(&new), Start::in_workspace(workspace.clone()));
        let id: SessionId = "plan-1".parse().unwrap();
        let request = TurnRequest {
            session_id: Some(id.clone()),
            title: Some("Plan".into()),
            model: Some("local".into()),
            wait_seconds: 5,
            ..new
        };
        let expected = Start {
            session: Some(id),
            title: Some("Plan".into()),
            workspace,
            model: Some("local".into()),
            lease_wait: Duration::from_secs(5),
        };
        assert_eq!(Start::from(&request), expected);
    }
}

//! The options with which a conversation begins.

use std::collections::BTreeSet;
use std::time::Duration;

use forklore_api::TurnRequest;
use forklore_core::SessionId;
use forklore_core::workspace::Workspace;

use crate::{Error, Result};

/// The session, model and options with which a conversation begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The session to continue. `None` creates a new session.
    pub session: Option<SessionId>,
    /// The title of the new session; `None` is no title. Unused if `session` names a session to
    /// continue.
    pub title: Option<String>,
    /// The permission ceiling of the new session and of its children; `None` is no limit. Unused if
    /// `session` names a session to continue.
    pub permissions: Option<BTreeSet<String>>,
    /// The workspace of new sessions.
    pub workspace: Workspace,
    /// The configured name of the model that answers. `None` is the default model.
    pub model: Option<String>,
    /// How long a turn waits while another program runs a turn in the session.
    pub lease_wait: Duration,
}

impl Start {
    /// Creates the start options of the single turn that a request describes.
    ///
    /// # Errors
    /// `invalid_args` if the request has neither a session nor a prompt, if its prompt is blank, or
    /// if it has a title or permissions for a session that exists.
    pub fn of(request: &TurnRequest) -> Result<Self> {
        if request.session_id.is_none() && request.prompt.is_none() {
            return Err(Error::invalid("a new session needs a prompt"));
        }
        if request.prompt.as_deref().is_some_and(|prompt| prompt.trim().is_empty()) {
            return Err(Error::invalid("the prompt is empty"));
        }
        if request.session_id.is_some() && request.title.is_some() {
            return Err(Error::invalid("only a new session can be given a title"));
        }
        if request.session_id.is_some() && request.permissions.is_some() {
            return Err(Error::invalid("only a new session can be given permissions; fork it"));
        }
        Ok(request.into())
    }

    /// Returns the options for a new session in a workspace, with the default model.
    #[must_use]
    pub fn in_workspace(workspace: Workspace) -> Self {
        Self {
            session: None,
            title: None,
            permissions: None,
            workspace,
            model: None,
            lease_wait: Duration::ZERO,
        }
    }

    /// Returns the options to continue the stored session `id` instead of creating a session.
    #[must_use]
    pub fn session(self, id: SessionId) -> Self {
        Self { session: Some(id), ..self }
    }
}

/// Converts a request without the checks of [`Start::of`], for a conversation that gets its prompts
/// later.
impl From<&TurnRequest> for Start {
    fn from(request: &TurnRequest) -> Self {
        Self {
            session: request.session_id.clone(),
            title: request.title.clone(),
            permissions: request.permissions.clone(),
            workspace: request.workspace.clone(),
            model: request.model.clone(),
            lease_wait: request.wait(),
        }
    }
}

#[cfg(test)]
mod tests {
    use forklore_core::ErrorKind;

    use super::*;

    fn named(request: TurnRequest) -> TurnRequest {
        TurnRequest { session_id: Some("plan-1".parse().unwrap()), ..request }
    }

    #[test]
    fn a_turn_begins_as_its_request_says() {
        let workspace = Workspace::new("/demo");
        let new = TurnRequest::in_workspace(workspace.clone(), "hello".into());
        assert_eq!(Start::of(&new).unwrap(), Start::in_workspace(workspace.clone()));
        let titled = TurnRequest { title: Some("Plan".into()), ..new.clone() };
        let expected =
            Start { title: titled.title.clone(), ..Start::in_workspace(workspace.clone()) };
        assert_eq!(Start::of(&titled).unwrap(), expected);
        let request = TurnRequest {
            model: Some("local".into()),
            prompt: None,
            wait_seconds: Some(5),
            ..named(new)
        };
        let expected = Start {
            session: request.session_id.clone(),
            title: None,
            permissions: None,
            workspace,
            model: Some("local".into()),
            lease_wait: Duration::from_secs(5),
        };
        assert_eq!(Start::of(&request).unwrap(), expected);
        let request = TurnRequest { wait_seconds: None, ..request };
        assert_eq!(Start::of(&request).unwrap().lease_wait, Duration::MAX);
    }

    #[test]
    fn a_request_that_no_turn_can_follow_is_refused() {
        let new = TurnRequest::in_workspace(Workspace::new("/demo"), "hello".into());
        let wrong = [
            (TurnRequest { prompt: None, ..new.clone() }, "a new session needs a prompt"),
            (TurnRequest { prompt: Some(" \n".into()), ..new.clone() }, "the prompt is empty"),
            (
                named(TurnRequest { prompt: Some(String::new()), ..new.clone() }),
                "the prompt is empty",
            ),
            (
                named(TurnRequest { title: Some("Plan".into()), ..new.clone() }),
                "only a new session can be given a title",
            ),
            (
                named(TurnRequest { permissions: Some([].into()), ..new }),
                "only a new session can be given permissions; fork it",
            ),
        ];
        for (request, message) in wrong {
            let error = Start::of(&request).unwrap_err();
            assert_eq!((error.kind(), &*error.to_string()), (ErrorKind::InvalidArgs, message));
        }
    }
}

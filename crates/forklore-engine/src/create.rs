//! `new`: creates a root session, or a delegate of a parent.

use forklore_api::{Create, Fork};
use forklore_core::Usage;
use forklore_core::{Header, Label, SessionId, SessionKind};
use forklore_store::port::NewSession;

use crate::header_limits::Limited;
use crate::{Engine, Result};

impl Engine {
    /// Creates a root session. If the request names a parent, creates a delegate (a sub-agent
    /// session) of that parent.
    ///
    /// # Errors
    /// - `already_exists`: the id is in use or belonged to a deleted session.
    /// - `invalid_args`: a field of the request is too long or not allowed.
    /// - `not_found`: the parent does not exist.
    /// - For a delegate, also the other errors of [`fork`](Self::fork).
    pub fn create(&self, request: &Create) -> Result<Header> {
        Limited {
            title: request.title.as_deref(),
            principal: request.principal.as_deref(),
            metadata: request.metadata.as_ref(),
            config: request.config.as_ref(),
        }
        .check()?;
        if let Some(parent) = &request.parent {
            return self.create_delegate(parent, request);
        }
        let new = NewSession {
            id: request.id.clone().unwrap_or_else(|| self.new_id()),
            kind: SessionKind::Root,
            label: request.label.clone().unwrap_or_else(Label::main),
            title: request.title.clone(),
            workspace: request.workspace.clone(),
            principal: request.principal.clone(),
            permissions: request.permissions.clone(),
            metadata: request.metadata.clone(),
            config: request.config.clone(),
            dialect: None,
            source: None,
            copy_of: None,
            created: self.now(),
            from: None,
            events: Vec::new(),
            usage: Usage::default(),
        };
        Ok(self.store.create(new)?)
    }

    fn create_delegate(&self, parent: &SessionId, request: &Create) -> Result<Header> {
        let forked = self.fork(&Fork {
            id: request.id.clone(),
            // Unlike a fork, `new` is not idempotent.
            must_be_new: true,
            label: request.label.clone(),
            title: request.title.clone(),
            kind: SessionKind::Delegate,
            principal: request.principal.clone(),
            permissions: request.permissions.clone(),
            workspace: Some(request.workspace.clone()),
            metadata: request.metadata.clone(),
            config: request.config.clone(),
            ..Fork::of(parent.clone())
        })?;
        self.show(&forked.child_session_id)
    }
}

//! `initialize`: asks the hooks, creates the session if it does not exist, and announces a new
//! child.

use forklore_core::{Header, SessionId, SessionKind};
use forklore_engine::{Create, Engine, Fork, Result as EngineResult};

use super::delegate::create_delegate;
use super::{AgentSession, Inner, NewSession};
use crate::context::Context;
use crate::hook::{ForkInput, SessionInput};
use crate::notify::{Identity, KernelEvent};
use crate::{Error, Result};

impl AgentSession {
    /// Initializes the session, once. Asks the hooks, creates the session if it does not exist yet,
    /// and announces a child that was created (`session:fork`). The first turn of a session also
    /// initializes it.
    ///
    /// # Errors
    /// - `permission_denied`: a hook denies the session. Nothing was written.
    /// - `already_exists`: another session has the id or the label.
    /// - `not_found`: the parent does not exist.
    /// - `busy`: this runtime is running a turn of the session.
    pub async fn initialize(&self) -> Result<()> {
        let _turn = self.inner.turn.try_lock().map_err(|_| Error::Running(self.id()))?;
        self.inner.make_ready().await
    }
}

impl Inner {
    /// Initializes the session if it is not initialized yet. The caller must have locked the mutex
    /// `turn`.
    pub(crate) async fn make_ready(&self) -> Result<()> {
        self.make_ready_for(&self.context).await
    }

    /// Initializes the session as [`make_ready`](Self::make_ready) does. If the session is a child
    /// that does not exist yet, the hooks are asked through `creator`. For a sub-agent that a
    /// session starts, `creator` is the context of that session. Otherwise it is this session's own
    /// context.
    pub(super) async fn make_ready_for(&self, creator: &Context) -> Result<()> {
        let identity = self.context.identity();
        let plan = {
            let state = self.state();
            if state.ended {
                return Err(Error::Ended(identity.session_id));
            }
            if state.ready {
                return Ok(());
            }
            state.plan.clone()
        };
        let Some(plan) = plan else {
            let id = identity.session_id.clone();
            let header = self.context.kernel.run(move |engine| engine.show(&id)).await?;
            let config = header.config.as_ref();
            self.context.must_pass(&identity, SessionInput { config }).await?;
            self.state().ready = true;
            return Ok(());
        };
        let id = Some(identity.session_id.clone());
        let input = SessionInput { config: plan.config.as_ref() };
        if let Some(parent) = plan.parent_id.clone() {
            let parent = self.context.kernel.run(move |engine| engine.show(&parent)).await?;
            let parent = Identity::from(&parent);
            let child = Identity::of_child(identity.session_id, &parent);
            creator.child_must_pass(&child, &parent, input).await?;
            let input = ForkInput { kind: SessionKind::Delegate, fork: None };
            creator.child_must_pass(&child, &parent, input).await?;
        } else {
            self.context.must_pass(&identity, input).await?;
        }
        let header = self.context.kernel.run(move |engine| match plan.parent_id.clone() {
            Some(parent) => delegate_of(engine, id, parent, plan),
            None => root(engine, id, plan),
        });
        self.made(&header.await?);
        Ok(())
    }

    /// Records that the session with this header was created and is ready. Announces the session if
    /// it is a child.
    pub(super) fn made(&self, header: &Header) {
        {
            let mut state = self.state();
            state.plan = None;
            state.ready = true;
        }
        self.context.made(header);
        if header.parent_id.is_some() {
            self.context.announce(KernelEvent::SessionFork(header.into()));
        }
    }
}

fn root(engine: &Engine, id: Option<SessionId>, plan: NewSession) -> EngineResult<Header> {
    engine.create(&Create {
        id,
        title: plan.title,
        label: plan.label,
        principal: plan.principal,
        permissions: plan.permissions,
        metadata: plan.metadata,
        config: plan.config,
        ..Create::in_workspace(plan.workspace)
    })
}

fn delegate_of(
    engine: &Engine,
    id: Option<SessionId>,
    parent: SessionId,
    plan: NewSession,
) -> EngineResult<Header> {
    let fork = Fork {
        id,
        title: plan.title,
        label: plan.label,
        principal: plan.principal,
        permissions: plan.permissions,
        metadata: plan.metadata,
        config: plan.config,
        workspace: Some(plan.workspace),
        ..Fork::of(parent)
    };
    create_delegate(engine, fork)
}

//! `delegate`: lets a sub-agent do a part of the work and return its result. The sub-agent has a
//! fresh context and its own budget.

use std::sync::Arc;

use forklore_core::{Header, Selector, SessionId, SessionKind};
use forklore_engine::{Engine, Error as EngineError, Fork, Result as EngineResult};
use futures_util::StreamExt;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::FuturesUnordered;
use tokio_util::sync::CancellationToken;

use super::{AgentSession, Home, NewSession};
use crate::context::Context;
use crate::delegation::{Delegate, Delegated};
use crate::notify::Identity;
use crate::panic::catch_panic;
use crate::turn::{Log, Subagent, SubagentFactory, SubagentSession, Turn};
use crate::{Error, Result};

impl AgentSession {
    /// Lets a sub-agent do a task, between turns of this session. The start and the result of the
    /// sub-agent are written into this session, and the model sees the result in the next turn. The
    /// usage of the sub-agent is recorded in its own session. [`interrupt`](Self::interrupt)
    /// interrupts the sub-agent.
    ///
    /// # Errors
    /// - `busy`: this runtime is running a turn, or another runtime has leased the session. In the
    ///   second case the error names the other runtime.
    /// - `permission_denied`: a hook denies the child, or the child requests a permission that this
    ///   session does not have.
    ///
    /// A failure of the sub-agent is not an error: [`Delegated::turn`] contains it.
    pub fn delegate(&self, delegate: Delegate) -> BoxFuture<'_, Result<Delegated>> {
        async move {
            let done = self.delegate_all(vec![delegate]).await?;
            done.into_iter().next().unwrap_or_else(|| Err(Error::Ended(self.id())))
        }
        .boxed()
    }

    /// Lets several sub-agents work at the same time, as [`delegate`](Self::delegate) does for one.
    /// Returns the results in the order of the tasks. The log has the results in the order in which
    /// the sub-agents end.
    ///
    /// # Errors
    /// `busy`, as for [`delegate`](Self::delegate). If one sub-agent cannot be created, only its
    /// own result is an error.
    pub fn delegate_all(
        &self,
        delegates: Vec<Delegate>,
    ) -> BoxFuture<'_, Result<Vec<Result<Delegated>>>> {
        async move {
            let inner = &self.inner;
            let mut view = inner.turn.try_lock().map_err(|_| Error::Running(self.id()))?;
            inner.make_ready().await?;
            let running = inner.context.begin();
            let (mut log, _) = Log::open(&inner.context, &mut view).await?;
            let delegated = side_by_side(&inner.home, &mut log, delegates, &running.cancel).await;
            log.close().await;
            delegated
        }
        .boxed()
    }
}

/// Creates and runs sub-agents, and records the start and the end of each.
async fn side_by_side(
    home: &Home,
    log: &mut Log<'_>,
    delegates: Vec<Delegate>,
    cancel: &CancellationToken,
) -> Result<Vec<Result<Delegated>>> {
    let context = log.context.clone();
    let mut done = Vec::with_capacity(delegates.len());
    let mut made = Vec::new();
    for (at, delegate) in delegates.into_iter().enumerate() {
        match Subagent::make(home, &context, delegate, None).await {
            Ok(subagent) => made.push((at, subagent)),
            Err(error) => done.push((at, Err(error))),
        }
    }
    log.append(made.iter().map(|(_, subagent)| subagent.began()).collect::<Result<_>>()?).await?;
    let running: FuturesUnordered<_> = made
        .into_iter()
        .map(|(at, subagent)| {
            subagent.announce_began(&context);
            let turn = subagent.run(cancel);
            async move { (at, subagent, turn.await) }
        })
        .collect();
    let mut running = std::pin::pin!(running);
    while let Some((at, subagent, turn)) = running.next().await {
        log.append(vec![subagent.ended(&turn, true)?]).await?;
        subagent.announce_ended(&context, &turn);
        done.push((at, Ok(Delegated { session_id: subagent.id(), turn })));
    }
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, delegated)| delegated).collect())
}

/// The session of a sub-agent, with the prompt that the sub-agent receives.
#[derive(Clone)]
struct SubSession {
    session: AgentSession,
    prompt: String,
    resumed: bool,
}

impl SubagentFactory for Home {
    fn make<'a>(
        &'a self,
        parent: &'a Context,
        delegate: Delegate,
    ) -> BoxFuture<'a, Result<Arc<dyn SubagentSession>>> {
        Box::pin(async move {
            let prompt = delegate.prompt.clone();
            let resumed = delegate.resume.is_some();
            let session = match delegate.resume.clone() {
                Some(child) => self.resume_delegate(parent, &child, delegate).await?,
                None => self.new_delegate(parent, delegate).await?,
            };
            session.inner.make_ready_for(parent).await?;
            Ok(Arc::new(SubSession { session, prompt, resumed }) as Arc<dyn SubagentSession>)
        })
    }
}

impl Home {
    async fn new_delegate(&self, parent: &Context, delegate: Delegate) -> Result<AgentSession> {
        let id = parent.identity().session_id;
        let wanted = id.clone();
        let header = self.kernel.run(move |engine| engine.show(&wanted)).await?;
        let parent_ids = Identity::from(&header);
        let new = NewSession {
            id: delegate.id,
            parent_id: Some(id),
            label: delegate.label,
            title: delegate.title,
            config: delegate.config,
            metadata: delegate.metadata,
            permissions: delegate.permissions,
            ..NewSession::in_workspace(header.workspace)
        };
        let mut config = delegate.session_config.unwrap_or_else(|| parent.config());
        config.model.ready().map_err(Error::NotReady)?;
        config.settings.budget = delegate.budget;
        Ok(AgentSession::planned(self, new, Some(&parent_ids), config))
    }

    /// Opens an existing sub-agent of the parent's session for another task.
    async fn resume_delegate(
        &self,
        parent: &Context,
        child: &SessionId,
        delegate: Delegate,
    ) -> Result<AgentSession> {
        let mut config = delegate.session_config.unwrap_or_else(|| parent.config());
        config.model.ready().map_err(Error::NotReady)?;
        config.settings.budget = delegate.budget;
        let wanted = child.clone();
        let header = self.kernel.run(move |engine| engine.show(&wanted)).await?;
        let is_child = header.parent_id == Some(parent.identity().session_id);
        // A branch of the parent is a child too, but another continuation and no sub-agent.
        if header.kind != SessionKind::Delegate || !is_child {
            return Err(Error::NotADelegate(child.clone()));
        }
        Ok(AgentSession::of(self, &header, config))
    }
}

impl SubagentSession for SubSession {
    fn id(&self) -> SessionId {
        self.session.id()
    }

    fn is_resumed(&self) -> bool {
        self.resumed
    }

    fn run(&self, cancel: &CancellationToken) -> BoxFuture<'static, Result<Turn>> {
        let (child, cancel) = (self.clone(), cancel.clone());
        Box::pin(async move {
            // The sub-agent's session is cleaned up even if its turn panics.
            let turn = catch_panic(child.session.execute(&child.prompt));
            tokio::pin!(turn);
            let turn = tokio::select! {
                turn = &mut turn => turn,
                () = child.interrupted(cancel) => turn.await,
            };
            child.session.cleanup(true).await;
            turn
        })
    }
}

impl SubSession {
    /// Waits until `cancel` is triggered, then interrupts the sub-agent's turn. If the turn does
    /// not run yet, waits until it runs.
    async fn interrupted(&self, cancel: CancellationToken) {
        cancel.cancelled().await;
        while !self.session.interrupt() {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    }
}

/// Creates a delegate (a sub-agent's session) that is forked at the current end of its parent. A
/// running turn of the parent does not prevent this.
pub(super) fn create_delegate(engine: &Engine, fork: Fork) -> EngineResult<Header> {
    let fork = Fork { kind: SessionKind::Delegate, at: Some(Selector::End), ..fork };
    let forked = engine.fork(&fork)?;
    if forked.existing {
        let (id, differs) = (forked.child_session_id, vec!["it was made before"]);
        return Err(EngineError::OtherChild { id, differs });
    }
    engine.show(&forked.child_session_id)
}

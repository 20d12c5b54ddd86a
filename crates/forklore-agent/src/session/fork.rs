//! `fork`: branches a session, even while a turn of it runs.

use forklore_core::Selector;
use forklore_engine::{Fork, Forked, Summarize};
use futures_util::future::{BoxFuture, FutureExt};

use super::summarize::{Part, summarize};
use super::{AgentSession, Inner};
use crate::hook::HookInput;
use crate::notify::Identity;
use crate::{Error, Result};

/// A fork, and its child as a session that can run turns. To stay in the parent, drop the child: it
/// remains stored.
#[must_use]
pub struct Branched {
    /// The result of the fork.
    pub forked: Forked,
    /// The child, with its parent's configuration.
    pub child: AgentSession,
}

impl AgentSession {
    /// Forks this session and ignores the request's `parent`. A running turn continues; without a
    /// cut the fork is then at the end of the last closed turn (docs/semantics.md, Where to cut).
    /// Hooks run before anything is written, and `session:fork` is announced after the child is
    /// durable.
    ///
    /// # Errors
    /// `invalid_args` (the cut, or a request that is a dry run: see
    /// [`plan_fork`](Self::plan_fork)), `already_exists`, `permission_denied` (a hook, or a
    /// permission that this session does not have).
    pub async fn fork(&self, request: Fork) -> Result<Branched> {
        let request = self.inner.of_this(request)?;
        if request.dry_run {
            return Err(Error::IsAPlan(request.parent));
        }
        self.inner.may_fork(&request).await?;
        self.carry_out(request).await
    }

    /// Returns what [`fork`](Self::fork) would do. It writes nothing, asks no hook and creates no
    /// child.
    ///
    /// # Errors
    /// As [`fork`](Self::fork), except what hooks deny.
    pub async fn plan_fork(&self, request: Fork) -> Result<Forked> {
        let request = Fork { dry_run: true, ..self.inner.of_this(request)? };
        self.inner.context.kernel.run(move |engine| engine.fork(&request)).await
    }

    /// Forks this session and appends a summary of its history by its model to the child
    /// (docs/semantics.md, Summary at the fork). The cost of the summary is recorded in the child;
    /// this session does not change. If the fork is refused or its child already exists, the model
    /// is not called. [`interrupt`](Self::interrupt) cancels the operation, and then there is no
    /// child. The second value is the summary if this call made one.
    ///
    /// # Errors
    /// As [`fork`](Self::fork); [`Error::Interrupted`]; `busy` while this runtime runs a turn. It
    /// is no error if the model gives no summary: then the summary contains the reason.
    pub fn fork_with_summary(
        &self,
        request: Fork,
    ) -> BoxFuture<'_, Result<(Branched, Option<Summarize>)>> {
        async move {
            let inner = &self.inner;
            let request = inner.of_this(request)?;
            let _turn = inner.turn.try_lock().map_err(|_| Error::Running(self.id()))?;
            let running = inner.context.begin();
            let planned = self.plan_fork(request.clone()).await?;
            if planned.existing {
                return Ok((self.carry_out(request).await?, None));
            }
            inner.may_fork(&request).await?;
            let is_end = matches!(request.at, None | Some(Selector::End));
            let part = if is_end && planned.adjusted_from.is_none() {
                Part::All
            } else {
                Part::Before(planned.cut.selector())
            };
            let summary = summarize(&inner.context, part, &running.cancel).await?;
            // The summary covers the history before this cut, even if the session has continued
            // since.
            let at = request.at.or_else(|| Some(planned.cut.selector()));
            let request = Fork { at, summarize: Some(summary.clone()), ..request };
            Ok((self.carry_out(request).await?, Some(summary)))
        }
        .boxed()
    }

    /// Creates the child, or finds it if it exists. The hooks have allowed it.
    async fn carry_out(&self, request: Fork) -> Result<Branched> {
        let home = &self.inner.home;
        let made = home.kernel.run(move |engine| {
            let forked = engine.fork(&request)?;
            let header = engine.show(&forked.child_session_id)?;
            Ok((forked, header))
        });
        let (forked, header) = made.await?;
        let child = Self::of(home, &header, self.equipment());
        if forked.recorded {
            child.inner.made(&header);
        }
        Ok(Branched { forked, child })
    }
}

impl Inner {
    /// Sets the request's parent to this session, and an id for the child.
    fn of_this(&self, request: Fork) -> Result<Fork> {
        let parent = self.context.identity().session_id;
        if self.state().ended {
            return Err(Error::Ended(parent));
        }
        let id = request.id.clone().unwrap_or_else(|| self.home.kernel.engine().new_id());
        Ok(Fork { parent, id: Some(id), ..request })
    }

    /// Asks the hooks about a fork and about its child.
    async fn may_fork(&self, request: &Fork) -> Result<()> {
        let here = self.context.identity();
        let child = Identity {
            session_id: request.id.clone().unwrap_or_else(|| here.session_id.clone()),
            parent_id: Some(here.session_id),
            root_id: here.root_id,
        };
        let input = HookInput::Fork { kind: request.kind, fork: Some(request) };
        self.context.must_pass(&child, input).await?;
        self.context
            .must_pass(&child, HookInput::Ready { config: request.config.as_ref() })
            .await?;
        Ok(())
    }
}

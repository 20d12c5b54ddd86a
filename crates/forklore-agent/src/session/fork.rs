//! `fork`: another continuation of a session, also while a turn of it runs.

use forklore_core::Selector;
use forklore_engine::{Fork, Forked, Summarize};
use futures_util::future::{BoxFuture, FutureExt};

use super::summarize::{Part, summarize};
use super::{AgentSession, Inner};
use crate::hook::HookInput;
use crate::notify::Identity;
use crate::{Error, Result};

/// A fork, and the child as a session to go on with. To stay, drop the child: it is stored.
#[must_use]
pub struct Branched {
    /// What the fork came to.
    pub forked: Forked,
    /// The child, with its parent's configuration.
    pub child: AgentSession,
}

impl AgentSession {
    /// Forks this session; of the request, `parent` is set to it. A turn that runs goes on; without
    /// a cut the fork is then at the end of the last closed turn (SPEC 5). The hooks are asked
    /// before anything is written, and `session:fork` is announced when the child is durable.
    ///
    /// # Errors
    /// `invalid_args` (the cut, or a request that is a plan: see [`plan_fork`](Self::plan_fork)),
    /// `already_exists`, `permission_denied` (a hook, or a permission that this session does not
    /// have).
    pub async fn fork(&self, request: Fork) -> Result<Branched> {
        let request = self.inner.of_this(request)?;
        if request.dry_run {
            return Err(Error::IsAPlan(request.parent));
        }
        self.inner.may_fork(&request).await?;
        self.carry_out(request).await
    }

    /// Says what [`fork`](Self::fork) would come to. Nothing is written, no hook is asked, and
    /// there is no child.
    ///
    /// # Errors
    /// As [`fork`](Self::fork), except what hooks deny.
    pub async fn plan_fork(&self, request: Fork) -> Result<Forked> {
        let request = Fork { dry_run: true, ..self.inner.of_this(request)? };
        self.inner.context.kernel.run(move |engine| engine.fork(&request)).await
    }

    /// Forks this session with a summary by its model behind the history (SPEC 8). What the summary
    /// cost is recorded in the child; this session stays as it is. A fork that is refused, or whose
    /// child exists already, asks the model nothing. [`interrupt`](Self::interrupt) ends it, and
    /// then there is no child. The second value is the summary where this call made it.
    ///
    /// # Errors
    /// As [`fork`](Self::fork); [`Error::Interrupted`]; `busy` while this runtime is in the middle
    /// of a turn. That the model gives no summary is no error: then the summary says why.
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
            // The summary is of what stood before this cut, also if the session has gone on meanwhile.
            let at = request.at.or_else(|| Some(planned.cut.selector()));
            let request = Fork { at, summarize: Some(summary.clone()), ..request };
            Ok((self.carry_out(request).await?, Some(summary)))
        }
        .boxed()
    }

    /// Makes the child, or finds it. The hooks have agreed.
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
    /// The request as one of this session, with an id for the child.
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

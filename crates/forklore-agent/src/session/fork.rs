//! `fork`: forks a session, even while a turn of the session runs.

use forklore_core::Selector;
use forklore_engine::{Fork, Forked, Summarize};
use futures_util::future::{BoxFuture, FutureExt};

use super::summarize::{Part, summarize};
use super::{AgentSession, Inner};
use crate::hook::{ForkInput, SessionInput};
use crate::notify::Identity;
use crate::{Error, Result};

/// A fork, with its child as a session that can run turns. If you do not need the child now, drop
/// it: the child stays in the store.
#[must_use]
pub struct Branched {
    /// The answer of the fork operation: the child's id, the cut and other facts.
    pub forked: Forked,
    /// The child session. It has its parent's configuration.
    pub child: AgentSession,
}

impl AgentSession {
    /// Forks this session. Ignores the `parent` in `request`. A running turn continues. If a turn
    /// runs and `request` has no cut, the cut is the end of the last closed turn
    /// (docs/semantics.md, Where to cut). Hooks run before anything is written. `session:fork` is
    /// announced after the child is durable. If the store limits the depth of forks and the child
    /// would exceed this limit, the child gets its own copy of the history.
    ///
    /// # Errors
    /// - `invalid_args`: the cut is invalid, or the request is a dry run: see
    ///   [`plan_fork`](Self::plan_fork).
    /// - `already_exists`: another session has the id or the label.
    /// - `permission_denied`: a hook denies the fork, or the child requests a permission that this
    ///   session does not have.
    pub async fn fork(&self, request: Fork) -> Result<Branched> {
        let (request, generated) = self.inner.of_this(request)?;
        if request.dry_run {
            return Err(Error::IsAPlan(request.parent));
        }
        self.inner.may_fork(&request).await?;
        self.carry_out(request, generated).await
    }

    /// Returns what [`fork`](Self::fork) would do. Writes nothing, calls no hook and creates no
    /// child.
    ///
    /// # Errors
    /// The errors of [`fork`](Self::fork), except denials by hooks.
    pub async fn plan_fork(&self, request: Fork) -> Result<Forked> {
        let (request, _) = self.inner.of_this(request)?;
        let request = Fork { dry_run: true, ..request };
        self.inner.context.kernel.run(move |engine| engine.fork_or_copy(&request)).await
    }

    /// Forks this session and appends a summary of its history to the child (docs/semantics.md,
    /// Summary at the fork). The model of this session writes the summary. The child records the
    /// cost of the summary; this session does not change. If the fork is refused or its child
    /// already exists, the model is not called. [`interrupt`](Self::interrupt) cancels the
    /// operation, and no child is created. The second value is the summary if this call made one.
    ///
    /// # Errors
    /// The errors of [`fork`](Self::fork); [`Error::Interrupted`]; `busy` while this runtime runs a
    /// turn. If the model writes no summary, this is not an error: the returned summary contains
    /// the reason.
    pub fn fork_with_summary(
        &self,
        request: Fork,
    ) -> BoxFuture<'_, Result<(Branched, Option<Summarize>)>> {
        async move {
            let inner = &self.inner;
            let (mut request, generated) = inner.of_this(request)?;
            // Without this, the plan would also accept an existing child that has no summary.
            request.summarize.get_or_insert_with(|| Summarize::fallback("the model was not asked"));
            let _turn = inner.turn.try_lock().map_err(|_| Error::Running(self.id()))?;
            let running = inner.context.begin();
            let planned = self.plan_fork(request.clone()).await?;
            if planned.existing {
                return Ok((self.carry_out(request, generated).await?, None));
            }
            inner.may_fork(&request).await?;
            let is_end = matches!(request.at, None | Some(Selector::End));
            let part = if is_end && planned.adjusted_from.is_none() {
                Part::All
            } else {
                Part::Before(planned.cut.selector())
            };
            let summary = summarize(&inner.context, part, &running.cancel).await?;
            // Fork at the cut up to which the summary covers the history. The session may have
            // grown since.
            let at = request.at.or_else(|| Some(planned.cut.selector()));
            let request = Fork { at, summarize: Some(summary.clone()), ..request };
            Ok((self.carry_out(request, generated).await?, Some(summary)))
        }
        .boxed()
    }

    /// Creates the child session of a fork, or opens the child if it exists. The hooks have already
    /// allowed the fork. If the child's id was `generated` and another session has the same id
    /// meanwhile, the child gets another id.
    async fn carry_out(&self, mut request: Fork, generated: bool) -> Result<Branched> {
        let home = &self.inner.home;
        let made = home.kernel.run(move |engine| {
            let forked = match engine.fork_or_copy(&request) {
                Err(error) if generated && error.is_id_in_use() => {
                    (request.id, request.must_be_new) = (None, false);
                    engine.fork_or_copy(&request)?
                }
                forked => forked?,
            };
            let header = engine.show(&forked.child_session_id)?;
            Ok((forked, header))
        });
        let (forked, header) = made.await?;
        let child = Self::of(home, &header, self.equipment());
        if self.inner.state().ended_with_children {
            // The cleanup of this session may have looked for children before this child existed.
            child.inner.state().ended = true;
        }
        if forked.recorded {
            child.inner.made(&header);
        }
        Ok(Branched { forked, child })
    }
}

impl Inner {
    /// Sets the parent in the fork request to this session. Generates an id for the child if the
    /// request has none. The second value says whether the id was generated.
    fn of_this(&self, request: Fork) -> Result<(Fork, bool)> {
        let parent = self.context.identity().session_id;
        if self.state().ended {
            return Err(Error::Ended(parent));
        }
        let generated = request.id.is_none();
        let id = request
            .id
            .clone()
            .unwrap_or_else(|| self.home.kernel.engine().new_fork_id(&parent, request.id_style, 0));
        let must_be_new = request.must_be_new || generated;
        Ok((Fork { parent, id: Some(id), must_be_new, ..request }, generated))
    }

    /// Asks the hooks whether the fork may happen and whether its child may be initialized.
    async fn may_fork(&self, request: &Fork) -> Result<()> {
        let here = self.context.identity();
        let id = request.id.clone().unwrap_or_else(|| here.session_id.clone());
        let child = Identity::of_child(id, &here);
        let input = ForkInput { kind: request.kind, fork: Some(request) };
        self.context.child_must_pass(&child, &here, input).await?;
        let input = SessionInput { config: request.config.as_ref() };
        self.context.child_must_pass(&child, &here, input).await
    }
}

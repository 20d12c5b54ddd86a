//! Operations of a conversation between turns: summaries, compaction, and sub-agents.

use std::ops::Range;

use forklore_agent::{Compacted, Delegate, Delegated};
use forklore_core::Header;
use forklore_engine::{Bring, Brought, Fork, Forked, Summarize};
use tokio_util::sync::CancellationToken;

use super::Conversation;
use crate::interrupt::interruptible;
use crate::{Error, Result};

/// The author of a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SummarizeBy {
    /// The engine, without a model.
    #[default]
    Deterministic,
    /// The conversation's model.
    Model,
}

/// A fork with a summary after its history.
#[derive(Debug)]
pub struct SummarizedFork {
    /// The fork that the conversation moved into.
    pub forked: Forked,
    /// The model's summary, or the reason why the model wrote none. `None` if the summary is
    /// deterministic: then no model was called.
    pub summary: Option<Summarize>,
}

impl Conversation {
    /// Summarizes the current session, and moves the conversation into a fork that has the summary
    /// after its history.
    ///
    /// # Errors
    /// `interrupted` if a model writes the summary and the token `cancel` is cancelled before the
    /// fork is created. Then no fork is created.
    pub async fn summarize(
        &self,
        by: SummarizeBy,
        cancel: &CancellationToken,
    ) -> Result<SummarizedFork> {
        let request = Fork::of(self.header().await?.id);
        match by {
            SummarizeBy::Deterministic => {
                let summarize = Some(Summarize::Deterministic);
                let forked = self.branch(Fork { summarize, ..request }, false).await?;
                Ok(SummarizedFork { forked, summary: None })
            }
            SummarizeBy::Model if cancel.is_cancelled() => Err(Error::Interrupted),
            SummarizeBy::Model => {
                self.count_budgets().await?;
                let session = self.session();
                let forking = session.fork_with_summary(request);
                let (branched, summary) = interruptible(&session, cancel, forking).await?;
                self.move_to(branched.child).await;
                Ok(SummarizedFork { forked: branched.forked, summary })
            }
        }
    }

    /// Records in the session `into` what `branch` did, as one summary with the last answer of
    /// `branch`.
    ///
    /// # Errors
    /// The errors of [`Engine::bring`](forklore_engine::Engine::bring). `interrupted` if the token
    /// `cancel` is cancelled before the summary is complete; then nothing is written.
    pub async fn bring(
        &self,
        branch: &Header,
        into: &Header,
        by: SummarizeBy,
        cancel: &CancellationToken,
    ) -> Result<Brought> {
        let plain = Bring::new(branch.id.clone(), into.id.clone());
        let plan = Bring { dry_run: true, ..plain.clone() };
        let planned = self.host().run(move |engine| engine.bring(&plan)).await?;
        let request = if planned.existing {
            plain
        } else {
            let part = planned.from_index..planned.to_index;
            let summarize = match by {
                SummarizeBy::Deterministic => Summarize::Deterministic,
                SummarizeBy::Model => self.summarize_branch(branch, part.clone(), cancel).await?,
            };
            Bring { summarize, part: Some(part), ..plain }
        };
        self.host().run(move |engine| engine.bring(&request)).await
    }

    async fn summarize_branch(
        &self,
        branch: &Header,
        part: Range<u64>,
        cancel: &CancellationToken,
    ) -> Result<Summarize> {
        if cancel.is_cancelled() {
            return Err(Error::Interrupted);
        }
        self.count_budgets().await?;
        let here = self.session();
        let session = if branch.id == here.id() {
            here
        } else {
            self.host().kernel().open(&branch.id, here.equipment()).await?
        };
        Ok(interruptible(&session, cancel, session.summarize_part(part)).await?)
    }

    /// Compacts the current session: the model then receives a summary instead of the older turns,
    /// which stay in the log. Returns `None` if there is nothing to compact.
    ///
    /// # Errors
    /// `busy` if another program runs a turn in the session.
    pub async fn compact(&self, cancel: &CancellationToken) -> Result<Option<Compacted>> {
        self.header().await?;
        self.count_budgets().await?;
        let session = self.session();
        Ok(interruptible(&session, cancel, session.compact()).await?)
    }

    /// Runs a task in a sub-agent. The next turn of the current session receives the sub-agent's
    /// result.
    ///
    /// # Errors
    /// The errors of [`AgentSession::delegate`](forklore_agent::AgentSession::delegate).
    pub async fn delegate(&self, task: &str, cancel: &CancellationToken) -> Result<Delegated> {
        self.header().await?;
        self.count_budgets().await?;
        let session = self.session();
        let work = session.delegate(Delegate::new(task));
        Ok(interruptible(&session, cancel, work).await?)
    }
}

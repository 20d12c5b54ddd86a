//! `summarize`: lets a model summarize a session, for a fork of the session or for another session.
//!
//! Nothing is written into the summarized session. The returned summary contains its own usage. The
//! caller records the summary together with this usage.

use std::ops::Range;

use forklore_core::{Message, Selector, SessionId};
use forklore_engine::{Engine, Record, Result as EngineResult, Summarize};
use futures_util::future::{BoxFuture, FutureExt};
use tokio_util::sync::CancellationToken;

use super::AgentSession;
use crate::cache_key::cache_key;
use crate::context::Context;
use crate::turn;
use crate::{Error, Result};

/// Which part of a session's history to summarize.
pub(super) enum Part {
    /// All messages that the model receives.
    All,
    /// The history before this cut.
    Before(Selector),
    /// The messages whose conversation indexes are in this range.
    Messages(Range<u64>),
}

impl AgentSession {
    /// Lets the session's model summarize the session (docs/semantics.md, Summary at the fork). The
    /// session does not change. Therefore another runtime may have the session's lease meanwhile.
    /// [`interrupt`](Self::interrupt) cancels the operation.
    ///
    /// # Errors
    /// - [`Error::Interrupted`]: the operation was interrupted. The error has the usage until then.
    /// - `busy`: this runtime is running a turn of the session.
    /// - `not_found`: the session does not exist or was deleted.
    ///
    /// If the model writes no summary, this is not an error: the returned summary contains the
    /// reason.
    pub async fn summarize(&self) -> Result<Summarize> {
        self.summarize_part_of(Part::All).await
    }

    /// Summarizes the history before a cut, for a fork at that cut.
    ///
    /// # Errors
    /// The errors of [`summarize`](Self::summarize); `invalid_args` if the cut is invalid.
    pub async fn summarize_up_to(&self, cut: &Selector) -> Result<Summarize> {
        let part = match cut {
            Selector::End => Part::All,
            cut => Part::Before(cut.clone()),
        };
        self.summarize_part_of(part).await
    }

    /// Summarizes only the messages whose conversation indexes are in the half-open range `part`.
    /// Use it, for example, to report this session's work to another session.
    ///
    /// # Errors
    /// The errors of [`summarize`](Self::summarize).
    pub fn summarize_part(&self, part: Range<u64>) -> BoxFuture<'_, Result<Summarize>> {
        async move { self.summarize_part_of(Part::Messages(part)).await }.boxed()
    }

    async fn summarize_part_of(&self, part: Part) -> Result<Summarize> {
        let inner = &self.inner;
        let _turn = inner.turn.try_lock().map_err(|_| Error::Running(self.id()))?;
        let running = inner.context.begin();
        inner.make_ready().await?;
        summarize(&inner.context, part, &running.cancel).await
    }
}

/// Summarizes a part of a session. The caller must have locked the session's mutex `turn`.
pub(super) async fn summarize(
    context: &Context,
    part: Part,
    cancel: &CancellationToken,
) -> Result<Summarize> {
    let (identity, config) = (context.identity(), context.config());
    let (session, model) = (identity.session_id.clone(), config.model.name().model.clone());
    let read = context.kernel.run(move |engine| messages(engine, &session, &model, &part));
    let key = cache_key(&identity.root_id);
    let summary = turn::summarize(context, &config, &read.await?, key, cancel).await?;
    if cancel.is_cancelled() {
        let usage = summary.usage().to_vec();
        return Err(Error::Interrupted { session: identity.session_id, usage });
    }
    Ok(summary)
}

/// Returns the messages of a part of the session. For [`Part::All`], returns them in the form that
/// the model receives. Otherwise returns them as they were written.
fn messages(
    engine: &Engine,
    id: &SessionId,
    model: &str,
    part: &Part,
) -> EngineResult<Vec<Message>> {
    let records = match part {
        Part::All => return Ok(engine.model_view(id, Some(model))?.messages),
        Part::Before(cut) => engine.replay(id, Some(cut))?,
        Part::Messages(range) => engine.replay_part(id, range)?,
    };
    let message = |record: Record| Message { role: record.role, content: record.content };
    records.map(|record| record.map(message)).collect()
}

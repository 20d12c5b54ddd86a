//! `summarize`: a model sums a session up, for a fork of it or for another session.
//!
//! Nothing is written into the session that is summed up: the summary carries what it cost, and
//! whoever records the summary records the cost beside it.

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

/// What is summed up.
pub(super) enum Part {
    /// What the model receives.
    All,
    /// What stands before a cut.
    Before(Selector),
    /// Some messages, by their indexes.
    Messages(Range<u64>),
}

impl AgentSession {
    /// Asks the session's model to sum the session up (SPEC 8). The session itself stays as it is,
    /// so another runtime may hold it meanwhile. [`interrupt`](Self::interrupt) ends it.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when it was interrupted; `busy` while this runtime is in the middle
    /// of a turn; `not_found`. That the model gives no summary is no error: then the summary says
    /// why.
    pub async fn summarize(&self) -> Result<Summarize> {
        self.summarize_part_of(Part::All).await
    }

    /// Sums up what stands before a cut, for a fork there.
    ///
    /// # Errors
    /// As [`summarize`](Self::summarize); `invalid_args` (the cut).
    pub async fn summarize_up_to(&self, cut: &Selector) -> Result<Summarize> {
        let part = match cut {
            Selector::End => Part::All,
            cut => Part::Before(cut.clone()),
        };
        self.summarize_part_of(part).await
    }

    /// Sums up some messages alone, by their indexes: what another session is to learn of this one.
    ///
    /// # Errors
    /// As [`summarize`](Self::summarize).
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

/// Sums up a part of a session, for whoever holds its turn.
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
        return Err(Error::Interrupted(identity.session_id));
    }
    Ok(summary)
}

/// The messages of a part: all as the model receives them, a part as it was written.
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

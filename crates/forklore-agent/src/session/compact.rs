//! `compact` and `gauge`: how full the context is, and what is done about it by hand.

use std::ops::Range;

use forklore_core::{Message, Selector, SessionId};
use forklore_engine::{Engine, Pressure, Record, Result as EngineResult, Summarize};
use serde::Serialize;
use serde_json::json;

use super::execute::Running;
use super::{AgentSession, Inner};
use crate::notify::Name;
use crate::turn::{Compacted, Log, cache_key, compact, summarize};
use crate::{Error, Result};

/// How full a session's context is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gauge {
    /// The tokens that the next request takes at least.
    pub tokens: u64,
    /// How many of them are estimated from the length of texts.
    pub estimated: u64,
    /// The tokens that the model takes, where known.
    pub window: Option<u64>,
}

impl Gauge {
    pub(crate) fn of(pressure: Pressure, window: Option<u64>) -> Self {
        Self { tokens: pressure.tokens, estimated: pressure.estimated, window }
    }

    /// The part that is full, where the window is known; more than 1 is too much.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "no context has 2^53 tokens")]
    pub fn fraction(&self) -> Option<f64> {
        self.window.filter(|window| *window > 0).map(|window| self.tokens as f64 / window as f64)
    }
}

impl AgentSession {
    /// How full the context is, from the log alone: what the last call of the model told, here or
    /// in the history that a fork inherited, and what was written since.
    ///
    /// # Errors
    /// `not_found`, `corrupt`.
    pub async fn gauge(&self) -> Result<Gauge> {
        let id = self.id();
        let pressure = self.inner.kernel.run(move |engine| engine.pressure(&id)).await?;
        Ok(Gauge::of(pressure, self.equipment().model.context_window()))
    }

    /// Compacts the history now. None when there is nothing to compact, or a hook denies it.
    ///
    /// # Errors
    /// `busy` naming the runtime that holds the session.
    pub async fn compact(&self) -> Result<Option<Compacted>> {
        let inner = &self.inner;
        let mut view = inner.turn.try_lock().map_err(|_| Error::Running(self.id()))?;
        inner.make_ready().await?;
        let running = Running::begin(inner);
        let (mut log, header) = Log::open(inner, &mut view).await?;
        let key = cache_key(&header.root_id);
        let compacted = compact(&mut log, &self.equipment(), key, "asked", &running.cancel).await;
        log.close().await;
        compacted
    }

    /// Asks the session's model to sum the session up, for a fork or for another session to be
    /// told (SPEC 8). What it took is written into the session. Of a session that cannot be written
    /// to now, nothing is asked.
    ///
    /// # Errors
    /// `busy` naming the runtime that holds the session; `not_found`.
    pub async fn summarize(&self) -> Result<Summarize> {
        self.summarize_what(What::All).await
    }

    /// The same of what stands before a place, for a fork there.
    ///
    /// # Errors
    /// As [`summarize`](Self::summarize); `invalid_args` (the cut).
    pub async fn summarize_up_to(&self, cut: &Selector) -> Result<Summarize> {
        let what = match cut {
            Selector::End => What::All,
            cut => What::Before(cut.clone()),
        };
        self.summarize_what(what).await
    }

    /// The same of a part alone, by the indexes of its messages: what another session is to be told
    /// of this one.
    ///
    /// # Errors
    /// As [`summarize`](Self::summarize).
    pub async fn summarize_part(&self, part: Range<u64>) -> Result<Summarize> {
        self.summarize_what(What::Part(part)).await
    }

    async fn summarize_what(&self, what: What) -> Result<Summarize> {
        let inner = &self.inner;
        let mut view = inner.turn.try_lock().map_err(|_| Error::Running(self.id()))?;
        inner.make_ready().await?;
        let running = Running::begin(inner);
        let (mut log, header) = Log::open(inner, &mut view).await?;
        let equipment = self.equipment();
        let asked = async {
            let messages = if matches!(what, What::All) {
                log.look(&*equipment.model).await?;
                log.view.messages().to_vec()
            } else {
                let id = header.id.clone();
                inner.kernel.run(move |engine| said(engine, &id, &what)).await?
            };
            let key = cache_key(&header.root_id);
            let said = summarize(inner, &equipment, &messages, key, &running.cancel).await?;
            log.append(said.usage).await?;
            Ok(said.by)
        };
        let asked = asked.await;
        log.close().await;
        asked
    }
}

/// What is to be summed up.
enum What {
    /// What the model receives.
    All,
    /// What stands before a place.
    Before(Selector),
    /// A part, by its indexes.
    Part(Range<u64>),
}

/// What was said, compacted or not.
fn said(engine: &Engine, id: &SessionId, what: &What) -> EngineResult<Vec<Message>> {
    let records = match what {
        What::All => engine.replay(id, None)?,
        What::Before(cut) => engine.replay(id, Some(cut))?,
        What::Part(part) => engine.replay_part(id, part)?,
    };
    let message = |record: Record| Message { role: record.role, content: record.content };
    records.map(|record| record.map(message)).collect()
}

impl Inner {
    pub(crate) fn announce_gauge(&self, gauge: &Gauge) {
        let data = json!({"tokens": gauge.tokens, "estimated": gauge.estimated,
            "window": gauge.window, "fraction": gauge.fraction()});
        self.announce(Name::ContextGauge, data);
    }
}

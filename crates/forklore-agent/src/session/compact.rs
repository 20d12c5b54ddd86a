//! `compact` and `gauge`: how full the context is, and what is done about it by hand.

use forklore_engine::Pressure;
use serde::Serialize;
use serde_json::json;

use super::execute::Running;
use super::{AgentSession, Inner};
use crate::notify::Name;
use crate::turn::{Compacted, Log, cache_key, compact};
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
}

impl Inner {
    pub(crate) fn announce_gauge(&self, gauge: &Gauge) {
        let data = json!({"tokens": gauge.tokens, "estimated": gauge.estimated,
            "window": gauge.window, "fraction": gauge.fraction()});
        self.announce(Name::ContextGauge, data);
    }
}

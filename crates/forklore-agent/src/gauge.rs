//! How full a session's context is.

use forklore_engine::ContextUsage;
use serde::Serialize;

use crate::context::Context;
use crate::notify::KernelEvent;
use crate::notify::event::ContextGauge;

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
    pub(crate) fn of(pressure: ContextUsage, window: Option<u64>) -> Self {
        Self { tokens: pressure.tokens, estimated: pressure.estimated, window }
    }

    /// The part that is full, where the window is known; more than 1 is too much.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "no context has 2^53 tokens")]
    pub fn fraction(&self) -> Option<f64> {
        self.window.filter(|window| *window > 0).map(|window| self.tokens as f64 / window as f64)
    }

    pub(crate) fn announce(&self, context: &Context) {
        let Self { tokens, estimated, window } = *self;
        let gauge = ContextGauge { tokens, estimated, window, fraction: self.fraction() };
        context.announce(KernelEvent::ContextGauge(gauge));
    }
}

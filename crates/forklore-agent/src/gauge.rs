//! How full a session's context window is.

use forklore_engine::ContextUsage;
use serde::Serialize;

use crate::context::Context;
use crate::notify::KernelEvent;
use crate::notify::event::ContextGauge;

/// How full a session's context window is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gauge {
    /// Lower bound of the tokens of the next request.
    pub tokens: u64,
    /// How many of `tokens` are estimated from the length of texts.
    pub estimated: u64,
    /// The model's context window in tokens, if known.
    pub window: Option<u64>,
}

impl Gauge {
    pub(crate) fn of(pressure: ContextUsage, window: Option<u64>) -> Self {
        Self { tokens: pressure.tokens, estimated: pressure.estimated, window }
    }

    /// Returns `tokens` divided by `window`, or `None` if the window is unknown or 0. A value above
    /// 1 means that the request is too long.
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

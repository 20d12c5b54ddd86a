//! The context-pressure gauge of a session: how full its context window is.

use forklore_engine::ContextUsage;
use serde::Serialize;

use crate::context::Context;
use crate::notify::KernelEvent;
use crate::notify::event::ContextGauge;

/// The context-pressure gauge: how full the context window of a session is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gauge {
    /// The number of tokens that the next model request contains at least, partly estimated.
    pub tokens: u64,
    /// The part of `tokens` that is estimated from the length of the messages.
    pub estimated: u64,
    /// The model's context window in tokens; `None` if it is not configured.
    pub window: Option<u64>,
}

impl Gauge {
    pub(crate) fn of(pressure: ContextUsage, window: Option<u64>) -> Self {
        Self { tokens: pressure.tokens, estimated: pressure.estimated, window }
    }

    /// Returns `tokens` divided by `window`, or `None` if the window is `None` or 0. A value above
    /// 1 means that the next request is too long.
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

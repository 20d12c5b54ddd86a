//! The usage of model calls: builds a usage record of each call, and adds the usage to the turn's
//! total.

use std::time::Duration;

use forklore_core::EventType;
use forklore_engine::NewEvent;
use serde_json::json;

use super::call_model::ModelCall;
use super::new_event::event;
use crate::Result;
use crate::config::SessionConfig;
use crate::model::TokenUsage;
use crate::notify::event::TurnUsage;

/// The usage of one attempt of a model call, with the other fields of its usage record.
pub(super) struct Call<'a> {
    usage: &'a TokenUsage,
    request_id: Option<&'a str>,
    took: Duration,
    purpose: Option<&'static str>,
    /// Whether the attempt gave no complete answer. `usage` then has the last token counts that the
    /// provider reported.
    partial: bool,
}

impl ModelCall {
    /// Returns the attempts without a complete answer for which the provider reported usage.
    pub(super) fn lost(&self, purpose: Option<&'static str>) -> impl Iterator<Item = Call<'_>> {
        self.lost.iter().map(move |lost| Call {
            usage: &lost.usage,
            request_id: lost.request_id.as_deref(),
            took: lost.took,
            purpose,
            partial: true,
        })
    }

    /// Returns the attempt that gave the complete answer, or `None` if no attempt did.
    pub(super) fn answered(&self, purpose: Option<&'static str>) -> Option<Call<'_>> {
        self.answer.end.as_ref().map(|end| Call {
            usage: &end.usage,
            request_id: end.request_id.as_deref(),
            took: self.took,
            purpose,
            partial: false,
        })
    }
}

impl Call<'_> {
    fn cost(&self, config: &SessionConfig) -> Option<f64> {
        let prices = config.settings.prices?;
        let TokenUsage { input, output, cached, cache_written } = *self.usage;
        let output = if self.partial { output.or(Some(0)) } else { output };
        Some(prices.cost(input?, output?, cached.unwrap_or(0), cache_written.unwrap_or(0)))
    }

    pub(super) fn usage(&self, config: &SessionConfig) -> TurnUsage {
        TurnUsage {
            input: self.usage.input.unwrap_or(0),
            output: self.usage.output.unwrap_or(0),
            cached: self.usage.cached.unwrap_or(0),
            cost: self.cost(config),
        }
    }

    pub(super) fn event(&self, config: &SessionConfig) -> Result<NewEvent> {
        let name = config.model.name();
        let data = json!({
            "provider": name.provider, "model": name.model,
            "input": self.usage.input, "output": self.usage.output,
            "cached": self.usage.cached, "cache_written": self.usage.cache_written,
            "cost": self.cost(config), "request_id": self.request_id,
            "ms": u64::try_from(self.took.as_millis()).ok(), "purpose": self.purpose,
            "partial": self.partial.then_some(true),
        });
        event(EventType::PROVIDER_USAGE, data)
    }
}

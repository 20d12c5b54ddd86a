//! Reads the token usage of a model call from a stored `provider_usage` event.

use forklore_core::Usage;
use forklore_core::{CallUsage, Data};
use serde::Deserialize;

use crate::lenient::{Number, Object, Text};

/// The token counts of a model call in Pixir's logs.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Summary {
    input_tokens: Number,
    output_tokens: Number,
    cached_tokens: Number,
}

impl Summary {
    pub(super) fn usage(&self) -> Usage {
        Usage {
            input: self.input_tokens.count(),
            output: self.output_tokens.count(),
            cached: self.cached_tokens.count(),
            ..Usage::default()
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    data: Object<UsageFields<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct UsageFields<'a> {
    #[serde(borrow)]
    model: Text<'a>,
    usage_summary: Object<Summary>,
}

/// Returns the usage of the model call in a `provider_usage` event. The event's id also identifies
/// the call, because forks do not repeat these events. Returns `None` if all numbers are 0 or the
/// stored data cannot be read.
pub(super) fn call_usage(data: &Data) -> Option<CallUsage> {
    let fields: Fields<'_> = data.read().ok()?;
    let event = &fields.data.0;
    let (call, model) = (fields.id.to_owned(), event.model.to_owned());
    CallUsage { call, model, usage: event.usage_summary.0.usage(), ..CallUsage::default() }.some()
}

//! Reads the token usage and cost of a model call from a stored message.

use forklore_core::Usage;
use forklore_core::{CallUsage, Data};
use serde::Deserialize;

use crate::lenient::{Number, Object, Text};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    timestamp: Text<'a>,
    #[serde(borrow)]
    message: Object<MessageFields<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct MessageFields<'a> {
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow)]
    response_id: Text<'a>,
    usage: Object<Tokens>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Tokens {
    input: Number,
    output: Number,
    cache_read: Number,
    cache_write: Number,
    cost: Object<Cost>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cost {
    total: Number,
}

pub(super) fn call_usage(data: &Data) -> Option<CallUsage> {
    let fields: Fields<'_> = data.read().ok()?;
    let message = &fields.message.0;
    let tokens = &message.usage.0;
    let cached = tokens.cache_read.count();
    let usage = Usage {
        input: tokens
            .input
            .count()
            .saturating_add(tokens.cache_write.count())
            .saturating_add(cached),
        output: tokens.output.count(),
        cached,
        cost: tokens.cost.0.total.0,
    };
    // Copies of a message have the same id and time. The time is needed because the id is too short
    // to be unique.
    let written = || Some(format!("{} {}", fields.id.get()?, fields.timestamp.get()?));
    let call = message.response_id.to_owned().or_else(written);
    CallUsage {
        call,
        model: message.model.to_owned(),
        usage,
        cache_written: tokens.cache_write.count(),
        ..CallUsage::default()
    }
    .some()
}

//! Reads the token usage of a model call from a stored message.

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
    model: Text<'a>,
    tokens: Object<Tokens>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input: Number,
    output: Number,
    cached: Number,
    thoughts: Number,
}

/// Returns the usage of the model call that wrote a message. A repeated message, for example with
/// the results of its tool calls, has the same id and counts as the same model call. Returns `None`
/// if all numbers are 0 or the stored data cannot be read.
pub(super) fn call_usage(data: &Data) -> Option<CallUsage> {
    let fields: Fields<'_> = data.read().ok()?;
    let tokens = &fields.tokens.0;
    let usage = Usage {
        input: tokens.input.count(),
        output: tokens.output.count().saturating_add(tokens.thoughts.count()),
        cached: tokens.cached.count(),
        cost: 0.0,
    };
    CallUsage {
        call: fields.id.to_owned(),
        model: fields.model.to_owned(),
        usage,
        ..CallUsage::default()
    }
    .some()
}

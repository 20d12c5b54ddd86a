//! Reads the token usage of a model call from a stored message.

use forklore_core::Usage;
use forklore_core::{CallUsage, Data};
use serde::Deserialize;

use crate::lenient::{Number, Object, Text};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Fields<'a> {
    #[serde(borrow)]
    uuid: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    usage_metadata: Object<Tokens>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Tokens {
    prompt_token_count: Number,
    candidates_token_count: Number,
    thoughts_token_count: Number,
    cached_content_token_count: Number,
}

/// Returns the usage of the model call that wrote a message. All fragments of a message have the
/// same id and count as the same model call. Returns `None` if all numbers are 0 or the stored data
/// cannot be read.
pub(super) fn call_usage(data: &Data) -> Option<CallUsage> {
    let fields: Fields<'_> = data.read().ok()?;
    let tokens = &fields.usage_metadata.0;
    let output = tokens.candidates_token_count.count();
    let usage = Usage {
        input: tokens.prompt_token_count.count(),
        output: output.saturating_add(tokens.thoughts_token_count.count()),
        cached: tokens.cached_content_token_count.count(),
        cost: 0.0,
    };
    CallUsage {
        call: fields.uuid.to_owned(),
        model: fields.model.to_owned(),
        usage,
        ..CallUsage::default()
    }
    .some()
}

//! Reads the token usage and cost of a model call from a stored record.

use forklore_core::Usage;
use forklore_core::{CallUsage, Data};
use serde::Deserialize;

use crate::lenient::{Number, Object, Text};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields<'a> {
    #[serde(borrow)]
    message: Object<MessageFields<'a>>,
    #[serde(rename = "costUSD")]
    cost: Number,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageFields<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    usage: Object<Tokens>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input_tokens: Number,
    cache_creation_input_tokens: Number,
    cache_read_input_tokens: Number,
    output_tokens: Number,
}

/// Returns the usage of a model call from a stored record. One response of the API is stored as
/// several records. Each contains the usage of the whole response up to that record. Returns `None`
/// if all numbers are 0 or the stored data cannot be read.
pub(super) fn call_usage(data: &Data) -> Option<CallUsage> {
    let fields: Fields<'_> = data.read().ok()?;
    let message = &fields.message.0;
    let tokens = &message.usage.0;
    let cached = tokens.cache_read_input_tokens.count();
    let usage = Usage {
        input: tokens
            .input_tokens
            .count()
            .saturating_add(tokens.cache_creation_input_tokens.count())
            .saturating_add(cached),
        output: tokens.output_tokens.count(),
        cached,
        cost: fields.cost.0,
    };
    CallUsage {
        call: message.id.to_owned(),
        model: message.model.to_owned(),
        usage,
        cache_written: tokens.cache_creation_input_tokens.count(),
        ..CallUsage::default()
    }
    .some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_cannot_be_are_as_large_as_can_be() {
        let tokens = format!("{{\"input_tokens\":{0},\"cache_read_input_tokens\":{0}}}", u64::MAX);
        let record = format!("{{\"message\":{{\"id\":\"m\",\"usage\":{tokens}}}}}");
        let usage = call_usage(&Data::parse(&record).unwrap()).unwrap();
        assert_eq!(usage.usage.input, u64::MAX);
    }
}

//! Reads the token usage and cost of the model calls of a stored message.

use forklore_core::Usage;
use forklore_core::{CallUsage, Data};
use serde::Deserialize;

use crate::lenient::{Number, Object, Text};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields<'a> {
    #[serde(borrow)]
    info: Object<Info<'a>>,
    /// The message, if opencode's second version wrote it. `info` is then empty.
    #[serde(borrow)]
    message: Option<Object<Info<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Info<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow, rename = "modelID")]
    model_id: Text<'a>,
    #[serde(borrow)]
    model: Object<Model<'a>>,
    cost: Number,
    tokens: Object<Tokens>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Model<'a> {
    #[serde(borrow)]
    id: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input: Number,
    output: Number,
    reasoning: Number,
    cache: Object<Cache>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cache {
    read: Number,
    write: Number,
}

pub(super) fn call_usage(data: &Data) -> Option<CallUsage> {
    let fields: Fields<'_> = data.read().ok()?;
    let Object(info) = fields.message.as_ref().unwrap_or(&fields.info);
    let Tokens { input, output, reasoning, cache: Object(cache) } = &info.tokens.0;
    let cached = cache.read.count();
    let usage = Usage {
        input: input.count().saturating_add(cache.write.count()).saturating_add(cached),
        output: output.count().saturating_add(reasoning.count()),
        cached,
        cost: info.cost.0,
    };
    let model = info.model_id.to_owned().or_else(|| info.model.0.id.to_owned());
    CallUsage {
        call: info.id.to_owned(),
        model,
        usage,
        cache_written: cache.write.count(),
        ..CallUsage::default()
    }
    .some()
}

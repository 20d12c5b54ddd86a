//! Attributes of spans, named and formatted as in OpenTelemetry's semantic conventions.

use opentelemetry::{Array, KeyValue, StringValue};
use serde_json::json;

/// The maximum length of a text attribute of a span, in bytes. Longer text is cut at a character
/// boundary.
const TEXT: usize = 32 << 10;

/// The attributes of an OpenTelemetry span.
#[derive(Default)]
pub(super) struct Attributes(pub(super) Vec<KeyValue>);

impl Attributes {
    pub(super) fn text(&mut self, key: &'static str, text: &str) {
        self.0.push(KeyValue::new(key, shortened(text)));
    }

    /// Adds the integer `count` as an attribute with this key. Adds nothing if `count` is `None`.
    #[expect(clippy::cast_precision_loss, reason = "no count of tokens is that high")]
    pub(super) fn count(&mut self, key: &'static str, count: Option<u64>) {
        self.0.extend(count.map(|count| {
            i64::try_from(count).map_or_else(
                |_| KeyValue::new(key, count as f64),
                |count| KeyValue::new(key, count),
            )
        }));
    }

    /// Adds the number `amount` as an attribute with this key. Adds nothing if `amount` is `None`.
    pub(super) fn amount(&mut self, key: &'static str, amount: Option<f64>) {
        self.0.extend(amount.map(|amount| KeyValue::new(key, amount)));
    }

    /// Adds a message (role and text) as an attribute, in the JSON form of OpenTelemetry's semantic
    /// conventions.
    pub(super) fn message(&mut self, key: &'static str, role: &str, text: &str) {
        let part = json!({"type": "text", "content": shortened(text)});
        let messages = json!([{"role": role, "parts": [part]}]);
        self.0.push(KeyValue::new(key, messages.to_string()));
    }

    pub(super) fn words(&mut self, key: &'static str, words: Vec<String>) {
        let words = words.into_iter().map(StringValue::from).collect();
        self.0.push(KeyValue::new(key, opentelemetry::Value::Array(Array::String(words))));
    }
}

fn shortened(text: &str) -> String {
    let end = (0..=text.len().min(TEXT)).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or_default().to_owned()
}

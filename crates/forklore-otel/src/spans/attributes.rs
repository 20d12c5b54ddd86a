//! What spans say, in the words of the conventions.

use opentelemetry::{Array, KeyValue, StringValue};
use serde_json::{Value, json};

/// The most bytes of a text that goes along.
const TEXT: usize = 32 << 10;

/// The attributes of a span.
#[derive(Default)]
pub(super) struct Attributes(pub(super) Vec<KeyValue>);

impl Attributes {
    pub(super) fn text(&mut self, key: &'static str, text: &str) {
        self.0.push(KeyValue::new(key, shortened(text)));
    }

    /// A number of `data`, where it has one.
    pub(super) fn number(&mut self, key: &'static str, number: Option<&Value>) {
        match number {
            Some(number) if number.is_i64() => {
                self.0.extend(number.as_i64().map(|number| KeyValue::new(key, number)));
            }
            Some(number) => self.0.extend(number.as_f64().map(|number| KeyValue::new(key, number))),
            None => {}
        }
    }

    /// One message, in the form of the conventions.
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

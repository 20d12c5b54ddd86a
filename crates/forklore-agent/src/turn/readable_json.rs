//! Converts JSON to a form that every JSON reader can parse.

use forklore_core::Data;

/// Converts JSON so that a [`serde_json::Value`] can represent it: events and notifications are
/// made of such values. An unpaired surrogate becomes the replacement character. If the nesting is
/// too deep or a number is too large, the whole JSON becomes a string.
pub(crate) fn plain(data: Data) -> Data {
    let holds = |data: &Data| data.read::<serde_json::Value>().is_ok();
    if holds(&data) {
        return data;
    }
    let readable = data.readable().into_owned();
    if holds(&readable) { readable } else { text_data(readable.get()) }
}

/// Converts a string to a JSON string.
pub(crate) fn text_data(text: &str) -> Data {
    Data::from_checked(serde_json::Value::from(text).to_string())
}

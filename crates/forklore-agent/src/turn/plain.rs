//! Converts JSON into a form that every reader can parse.

use forklore_core::Data;

/// Converts JSON so that a [`serde_json::Value`], of which events and notifications are made, can
/// represent it. An unpaired surrogate becomes the replacement character. Data with too deep
/// nesting or too large a number becomes a string.
pub(crate) fn plain(data: Data) -> Data {
    let holds = |data: &Data| data.read::<serde_json::Value>().is_ok();
    if holds(&data) {
        return data;
    }
    let readable = data.readable().into_owned();
    if holds(&readable) { readable } else { text_data(readable.get()) }
}

/// Returns a JSON string.
pub(crate) fn text_data(text: &str) -> Data {
    Data::from_checked(serde_json::Value::from(text).to_string())
}

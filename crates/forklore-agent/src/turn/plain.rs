//! JSON that every reader can hold.

use forklore_core::Data;

/// What a tree of values can hold, as events and notifications are made of: half of a surrogate pair
/// is the replacement character, and what is nested too deep or has too large a number is a text.
pub(crate) fn plain(data: Data) -> Data {
    let holds = |data: &Data| data.read::<serde_json::Value>().is_ok();
    if holds(&data) {
        return data;
    }
    let readable = data.readable().into_owned();
    if holds(&readable) { readable } else { text_data(readable.get()) }
}

/// A JSON string.
pub(crate) fn text_data(text: &str) -> Data {
    Data::from_checked(serde_json::Value::from(text).to_string())
}

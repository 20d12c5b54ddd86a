//! Builds JSON lines from stored JSON texts, and parses as little of the texts as possible.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Builds the JSON line for a message and its parts: `{"info":{...},"parts":[...]}`.
pub(crate) fn message(info: &str, parts: &[String]) -> String {
    format!("{{\"info\":{info},\"parts\":[{}]}}\n", parts.join(","))
}

/// Builds the JSON line for a message of opencode's second version: `{"message":{...}}`.
pub(crate) fn journal_message(message: &str) -> String {
    format!("{{\"message\":{message}}}\n")
}

/// Builds the JSON line for the values of a session that never change.
pub(crate) fn session(info: &str) -> String {
    format!("{{\"info\":{info}}}\n")
}

/// Builds the JSON line for all current values of a session, marked with `"whole":true`.
pub(crate) fn whole(info: &str) -> String {
    format!("{{\"info\":{info},\"whole\":true}}\n")
}

/// Builds the JSON line for a message part whose message does not exist.
pub(crate) fn orphan(part: &str) -> String {
    format!("{{\"part\":{part}}}\n")
}

/// Builds the JSON line that lists the ids of deleted messages.
pub(crate) fn deleted(ids: &[String]) -> String {
    format!("{{\"deleted\":{}}}\n", text(ids))
}

/// Adds `fields` (names with JSON values) at the end of the JSON object in `data`. If `data` is no
/// JSON object, returns an object that contains `data` as a string in the field `data`.
pub(crate) fn with(data: &str, fields: &[(&str, &str)]) -> String {
    let mut out = on_one_line(data).unwrap_or_else(|| format!("{{\"data\":{}}}", text(data)));
    out.truncate(out.trim_end().len() - 1);
    let mut first = out.trim_end().ends_with('{');
    for (name, value) in fields {
        out.push_str(if first { "" } else { "," });
        out.push_str(&format!("{}:{value}", text(name)));
        first = false;
    }
    out.push('}');
    out
}

/// Puts the JSON object in `data` on one line. Returns `None` if `data` is not a JSON object.
fn on_one_line(data: &str) -> Option<String> {
    let raw: &RawValue = serde_json::from_str(data).ok()?;
    // Line breaks in JSON strings are escaped, so this changes only white space between tokens.
    raw.get().starts_with('{').then(|| raw.get().replace(['\n', '\r'], " "))
}

/// Serializes a value to a JSON string.
pub(crate) fn text<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".into())
}

/// Returns the value of the field `field` of a JSON object, if the value is a string.
pub(crate) fn text_field(object: &str, field: &str) -> Option<String> {
    let fields: HashMap<String, &RawValue> = serde_json::from_str(object).ok()?;
    serde_json::from_str(fields.get(field)?.get()).ok()
}

/// The fields of a stored message that show whether the message is complete.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct MessageState<'a> {
    #[serde(borrow)]
    pub(crate) id: Option<&'a RawValue>,
    /// The type of a message of opencode's second version, which has no role. `None` in the first
    /// version.
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Option<&'a RawValue>,
    #[serde(borrow)]
    role: Option<&'a RawValue>,
    /// The status of a compaction in opencode's second version.
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) time: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl<'a> MessageState<'a> {
    pub(crate) fn of(data: &'a str) -> Self {
        serde_json::from_str(data).unwrap_or_default()
    }

    /// Checks whether the message, whose type is `kind`, is one of opencode's second version that
    /// opencode has not completed: a response of the model, a compaction or a command.
    pub(crate) fn is_unfinished_entry(&self, kind: &str) -> bool {
        match kind {
            "assistant" => self.is_incomplete(),
            "compaction" | "shell" => self.status.is_some_and(|it| it.get() == "\"running\""),
            _ => false,
        }
    }

    /// Checks whether the message is a model response that opencode has not completed.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.role.is_some_and(|role| role.get() == "\"assistant\"") && self.is_incomplete()
    }

    /// Checks whether the message has times, but neither a time of its end nor an error.
    fn is_incomplete(&self) -> bool {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Times<'a> {
            #[serde(borrow)]
            completed: Option<&'a RawValue>,
        }
        let times = self.time.map(|time| serde_json::from_str::<Times<'_>>(time.get()));
        let times = times.and_then(Result::ok).unwrap_or_default();
        // A message without times counts as complete, because its fields do not show its state.
        self.time.is_some() && times.completed.is_none() && self.error.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_added_behind_what_is_there() {
        let id = [("id", "\"x\"")];
        assert_eq!(with("{ }", &id), "{ \"id\":\"x\"}");
        assert_eq!(with("{\"a\":1.0\n}", &id), "{\"a\":1.0 ,\"id\":\"x\"}");
        assert_eq!(with("[1]", &id), "{\"data\":\"[1]\",\"id\":\"x\"}");
        assert_eq!(with("{torn", &id), "{\"data\":\"{torn\",\"id\":\"x\"}");
    }

    #[test]
    fn only_an_answer_without_an_end_is_unfinished() {
        let is = |data: &str| MessageState::of(data).is_unfinished();
        assert!(is(r#"{"role":"assistant","time":{"created":1}}"#));
        assert!(!is(r#"{"role":"assistant","time":{"created":1,"completed":2}}"#));
        assert!(!is(r#"{"role":"assistant","time":{"created":1},"error":{"name":"x"}}"#));
        assert!(!is(r#"{"role":"user","time":{"created":1}}"#));
        assert!(!is(r#"{"role":"assistant"}"#));
    }
}

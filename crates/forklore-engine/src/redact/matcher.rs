//! Finds a text in payloads.

use forklore_core::Data;
use regex::{Regex, RegexBuilder};
use serde_json::Value;

use crate::{Error, Result};

/// Maximum size of a compiled regular expression, in bytes.
const PATTERN_BYTES: usize = 1 << 20;

/// Finds a text or a regular expression.
pub(super) enum Matcher {
    Text(String),
    Pattern(Box<Regex>),
}

impl Matcher {
    pub(super) fn of(text: &str, is_pattern: bool) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::invalid("match", "the text to find is empty"));
        }
        if !is_pattern {
            return Ok(Self::Text(text.to_owned()));
        }
        let pattern = RegexBuilder::new(text).size_limit(PATTERN_BYTES).build();
        let pattern = pattern.map_err(|error| Error::invalid("match", error.to_string()))?;
        if pattern.is_match("") {
            let message = "the regular expression fits the empty text, so it fits every event";
            return Err(Error::invalid("match", message));
        }
        Ok(Self::Pattern(Box::new(pattern)))
    }

    pub(super) fn finds(&self, text: &str) -> bool {
        match self {
            Self::Text(wanted) => text.contains(wanted.as_str()),
            Self::Pattern(pattern) => pattern.is_match(text),
        }
    }

    /// Searches the payload as it is stored, and each of its texts.
    pub(super) fn finds_in(&self, data: &Data) -> bool {
        self.finds(data.get()) || texts(data).iter().any(|text| self.finds(text))
    }
}

/// Returns all texts in a payload: the names of fields and the strings, without their escapes.
pub(super) fn texts(data: &Data) -> Vec<String> {
    let mut found = Vec::new();
    let Ok(value) = data.readable().read::<Value>() else { return found };
    let mut next = vec![value];
    while let Some(value) = next.pop() {
        match value {
            Value::String(text) => found.push(text),
            Value::Array(items) => next.extend(items),
            Value::Object(fields) => {
                for (name, value) in fields {
                    found.push(name);
                    next.push(value);
                }
            }
            _ => {}
        }
    }
    found
}

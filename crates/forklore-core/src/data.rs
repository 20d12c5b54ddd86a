//! Verbatim JSON: the payload of an event, exactly as its writer wrote it (docs/semantics.md,
//! Envelope).

use std::borrow::Cow;

use bytestring::ByteString;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The JSON text of one value as its writer wrote it, except that line breaks between tokens become
/// spaces. Unknown fields, the order of keys and the digits of numbers survive every read and
/// write.
///
/// Cloning is cheap: a clone shares its buffer with the original. Values that a store reads
/// together may share one buffer, which lives as long as any of them.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Data(ByteString);

/// The error for a string that is not one JSON value, or for a value that cannot be serialized as
/// JSON.
#[derive(Debug, thiserror::Error)]
#[error("not valid JSON: {0}")]
pub struct NotJson(#[from] serde_json::Error);

impl Data {
    /// Checks that `text` is one JSON value and copies it. White space around the value is removed,
    /// and line breaks between tokens become spaces.
    ///
    /// # Errors
    /// If `text` is not one JSON value.
    pub fn parse(text: &str) -> Result<Self, NotJson> {
        let _: &RawValue = serde_json::from_str(text)?;
        let text = text.trim_matches([' ', '\t', '\r', '\n']);
        if text.contains(['\n', '\r']) {
            // JSON strings always escape these two characters, so only white space changes.
            return Ok(Self(text.replace(['\n', '\r'], " ").into()));
        }
        Ok(Self(text.into()))
    }

    /// Wraps JSON text that a store or an agent format has already checked. This function checks
    /// nothing.
    #[must_use]
    pub fn from_checked(text: impl Into<ByteString>) -> Self {
        Self(text.into())
    }

    /// Returns the JSON value `null`.
    #[must_use]
    pub const fn null() -> Self {
        Self(ByteString::from_static("null"))
    }

    /// Serializes `value` as JSON.
    ///
    /// # Errors
    /// If `value` cannot be serialized as JSON.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, NotJson> {
        Ok(Self(serde_json::to_string(value)?.into()))
    }

    /// Deserializes a field that is absent if there is no value, so that the value `null` remains.
    ///
    /// # Errors
    /// If the input is not one JSON value.
    pub fn some<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Self>, D::Error> {
        Self::deserialize(from).map(Some)
    }

    /// Returns the JSON text.
    #[must_use]
    #[inline]
    pub fn get(&self) -> &str {
        &self.0
    }

    /// Returns the value in a form in which every JSON string is valid Unicode.
    /// [`without_lone_surrogates`] replaces each escape that is not valid Unicode.
    #[must_use]
    pub fn readable(&self) -> Cow<'_, Self> {
        match without_lone_surrogates(&self.0) {
            Cow::Borrowed(_) => Cow::Borrowed(self),
            Cow::Owned(text) => Cow::Owned(Self(text.into())),
        }
    }

    /// Deserializes a `T` from the JSON text.
    ///
    /// # Errors
    /// If the JSON text does not match `T`, for instance because a field is missing.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }
}

/// Replaces each lone surrogate escape, such as `\ud83d` without its second half, by the escape
/// `\ufffd`. A lone surrogate is valid JSON but not Unicode. Agents write lone surrogates when they
/// truncate a string in the middle of an emoji.
#[must_use]
pub fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    if !json.contains("\\ud") && !json.contains("\\uD") {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, escape)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        let pair = || matches!(escape.get(6..).and_then(unit), Some(0xDC00..=0xDFFF));
        let (len, whole) = match unit(escape) {
            Some(0xD800..=0xDBFF) if pair() => (12, true),
            Some(0xD800..=0xDFFF) => (6, false),
            Some(_) => (6, true),
            None => (escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end), true),
        };
        let (stored, after) = escape.split_at_checked(len).unwrap_or((escape, ""));
        out.push_str(if whole { stored } else { "\\ufffd" });
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Parses the `\uXXXX` escape at the beginning of `text` as a UTF-16 code unit. `None` if `text`
/// does not begin with such an escape.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

impl std::fmt::Debug for Data {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(raw.get()).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_survives() {
        let text = r#"{"b":1.0,"a":1151155555151551151155555155,"b":1e+05,"é":"\u00e9"}"#;
        let data = Data::parse(text).unwrap();
        assert_eq!(data.get(), text);
        assert_eq!(serde_json::to_string(&data).unwrap(), text);
    }

    #[test]
    fn one_line_only() {
        assert_eq!(Data::parse("{\r\n \"a\": 1\n}\n").unwrap().get(), "{   \"a\": 1 }");
        assert!(Data::parse("{\"a\":1}{}").is_err());
    }

    #[test]
    fn halves_of_surrogate_pairs_are_stored_and_read_as_replaced() {
        let text = r#"{"a":"\ud800 \udc00\ud83d\ude00\\ud800\"\uD83D","b":1.0}"#;
        let data = Data::parse(text).unwrap();
        assert_eq!(data.get(), text);
        let mended = r#"{"a":"\ufffd \ufffd\ud83d\ude00\\ud800\"\ufffd","b":1.0}"#;
        assert_eq!(data.readable().get(), mended);
        assert!(matches!(without_lone_surrogates("{\"a\":\"\\u00e9\"}"), Cow::Borrowed(_)));
    }

    #[test]
    fn any_depth_is_stored() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert_eq!(Data::parse(&deep).unwrap().get(), deep);
    }
}

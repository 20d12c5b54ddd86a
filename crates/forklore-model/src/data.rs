//! Verbatim JSON: the payload of an event as it was written (SPEC 2).

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// A JSON text on one line whose spelling is kept: unknown fields, key order and the digits of
/// numbers survive every read and write.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Data(Box<str>);

/// A text that is not one JSON value.
#[derive(Debug, thiserror::Error)]
#[error("not valid JSON: {0}")]
pub struct NotJson(#[from] serde_json::Error);

impl Data {
    /// Checks that `text` is one JSON value and keeps it; line breaks between tokens become spaces.
    ///
    /// # Errors
    /// When it is not JSON.
    pub fn parse(text: &str) -> Result<Self, NotJson> {
        let _: &RawValue = serde_json::from_str(text)?;
        let text = text.trim_matches([' ', '\t', '\r', '\n']);
        if text.contains(['\n', '\r']) {
            // Inside a JSON string these two are always escaped, so only white space changes.
            return Ok(Self(text.replace(['\n', '\r'], " ").into()));
        }
        Ok(Self(text.into()))
    }

    /// Takes text that a store or a dialect has already checked.
    #[must_use]
    pub fn from_checked(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// The JSON form of `value`.
    ///
    /// # Errors
    /// When `value` cannot be written as JSON.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, NotJson> {
        Ok(Self(serde_json::to_string(value)?.into()))
    }

    /// The JSON text.
    #[must_use]
    pub fn get(&self) -> &str {
        &self.0
    }

    /// The fields of `T`, read from the text.
    ///
    /// # Errors
    /// When a field is missing or of another type.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }
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
    fn any_depth_is_stored() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert_eq!(Data::parse(&deep).unwrap().get(), deep);
    }
}

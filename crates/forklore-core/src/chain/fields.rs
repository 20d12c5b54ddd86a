//! Hashes a list of fields so that no byte can move from one field to the next.

use jiff::Timestamp;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::data::Data;

/// A hash to which fields are added. Each text is preceded by its length.
pub(super) struct Fields(Sha256);

impl Fields {
    /// Starts with the name of what is hashed.
    pub(super) fn of(name: &str) -> Self {
        let mut fields = Self(Sha256::new());
        fields.text(name);
        fields
    }

    pub(super) fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }

    /// Adds bytes whose number is always the same.
    pub(super) fn bytes(&mut self, bytes: &[u8; 32]) {
        self.0.update(bytes);
    }

    pub(super) fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    pub(super) fn time(&mut self, time: Timestamp) {
        self.0.update(time.as_microsecond().to_le_bytes());
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text);
    }

    pub(super) fn optional(&mut self, text: Option<&str>) {
        self.number(text.is_some().into());
        if let Some(text) = text {
            self.text(text);
        }
    }

    /// Adds a value of this crate as JSON. Its fields have one order.
    pub(super) fn serialized(&mut self, value: &impl Serialize) {
        // Only maps with keys that are no text cannot be JSON, and none is hashed.
        self.text(&serde_json::to_string(value).unwrap_or_default());
    }

    pub(super) fn optional_json(&mut self, data: Option<&Data>) {
        self.number(data.is_some().into());
        if let Some(data) = data {
            self.json(data);
        }
    }

    /// Adds JSON text without the whitespace between its tokens, which a store may change. The
    /// length of the rest follows it.
    pub(super) fn json(&mut self, data: &Data) {
        let is_space = |byte: u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let (mut quoted, mut escaped) = (false, false);
        // A run is whitespace between tokens, or has none.
        let runs = data.get().as_bytes().chunk_by(|&before, &after| {
            match (quoted, escaped, before) {
                (_, true, _) => escaped = false,
                (true, _, b'\\') => escaped = true,
                (_, _, b'"') => quoted = !quoted,
                _ => {}
            }
            quoted || is_space(before) == is_space(after)
        });
        let mut length = 0;
        for run in runs {
            if !run.first().is_some_and(|&byte| is_space(byte)) {
                self.0.update(run);
                length += run.len() as u64;
            }
        }
        self.number(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(json: &str) -> [u8; 32] {
        let mut fields = Fields::of("test");
        fields.json(&Data::from_checked(json.to_owned()));
        fields.finish()
    }

    #[test]
    fn whitespace_counts_only_inside_of_strings() {
        let plain = r#"{"a":[1,2],"b \" c":"x  y\\"}"#;
        for same in [
            r#" {"a": [1 , 2], "b \" c":"x  y\\" } "#,
            "{\"a\":\t[1,\n2],\r\n\"b \\\" c\" : \"x  y\\\\\"}",
        ] {
            assert_eq!(hash(same), hash(plain), "{same}");
        }
        for other in [
            r#"{"a":[1,2],"b \" c":"x y\\"}"#,
            r#"{"a":[1,2],"b \"c":"x  y\\"}"#,
            r#"{"a":[1,2],"b \" c":"x  y\\ "}"#,
            r#"{"a":[12],"b \" c":"x  y\\"}"#,
        ] {
            assert_ne!(hash(other), hash(plain), "{other}");
        }
    }

    #[test]
    fn no_byte_moves_to_the_next_field() {
        let hash = |first: &str, second: Option<&str>| {
            let mut fields = Fields::of("test");
            fields.text(first);
            fields.optional(second);
            fields.finish()
        };
        let all = [
            hash("ab", Some("c")),
            hash("a", Some("bc")),
            hash("abc", None),
            hash("abc", Some("")),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one), "{at}");
        }
    }
}

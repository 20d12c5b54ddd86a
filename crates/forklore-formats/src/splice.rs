//! Changes some fields of a stored record, and leaves all other bytes as they are.

use std::borrow::Cow;
use std::io::{self, Write};

use forklore_core::data::without_lone_surrogates;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The JSON value of a field, exactly as it is written in the line; it may be `null`. `None` means
/// that the line does not have the field.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Field<'a>(pub(crate) Option<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Field<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(d).map(|raw| Self(Some(raw)))
    }
}

impl<'a> Field<'a> {
    /// Returns the field's value if it is a string.
    pub(crate) fn text(&self) -> Option<Cow<'a, str>> {
        #[derive(Deserialize)]
        struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
        let raw = self.0?.get();
        // Nearly every string has no escapes and can be borrowed. serde decodes the others.
        let inside = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        if let Some(plain) = inside.filter(|text| !text.contains('\\')) {
            return Some(Cow::Borrowed(plain));
        }
        serde_json::from_str::<Text<'a>>(raw).ok().map(|text| text.0)
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.text().is_some_and(|own| own == text)
    }
}

/// Changes to the fields of one JSON object. Applying them preserves all other bytes of the object.
#[derive(Debug, Default)]
pub(crate) struct Splice {
    /// The changes of values in the object's line. Each has the byte range to replace, from the
    /// start (inclusive) to the end (exclusive), and the replacement.
    edits: Vec<(usize, usize, String)>,
    /// The fields to add to the object, as JSON. A comma follows each field.
    added: String,
}

impl Splice {
    /// Sets the field `name` of the object to the JSON value `json`. `field` is its present value
    /// in `line`, the object's text.
    pub(crate) fn set(&mut self, line: &str, name: &str, field: Field<'_>, json: String) {
        match field.0 {
            Some(raw) if raw.get() == json => {}
            Some(raw) => self.replace(line, raw, json),
            None => self.add(name, &json),
        }
    }

    /// Replaces the JSON value `raw` of the object by `json`. `raw` must be a slice of `line`, the
    /// object's text.
    pub(crate) fn replace(&mut self, line: &str, raw: &RawValue, json: String) {
        let start = raw.get().as_ptr().addr().saturating_sub(line.as_ptr().addr());
        self.edits.push((start, start + raw.get().len(), json));
    }

    /// Adds the field `name` with the JSON value `json` at the beginning of the object. The object
    /// must not have the field.
    pub(crate) fn add(&mut self, name: &str, json: &str) {
        self.added.push('"');
        self.added.push_str(name);
        self.added.push_str("\":");
        self.added.push_str(json);
        self.added.push(',');
    }

    /// Applies the changes to `line`, the object's text, and writes the result to `out` with a line
    /// feed.
    pub(crate) fn write(mut self, line: &str, out: &mut dyn Write) -> io::Result<()> {
        let mut done = 0;
        if !self.added.is_empty() {
            // The added fields follow the opening brace. If the object is empty, no comma follows
            // them.
            done = line.find('{').map_or(0, |at| at + 1);
            let begun = line.get(..done).unwrap_or_default();
            let empty = line.get(done..).is_some_and(|rest| rest.trim_start().starts_with('}'));
            let added = if empty { self.added.trim_end_matches(',') } else { &self.added };
            out.write_all(begun.as_bytes())?;
            out.write_all(added.as_bytes())?;
        }
        self.edits.sort_unstable_by_key(|(start, ..)| *start);
        for (start, end, json) in &self.edits {
            out.write_all(line.get(done..*start).unwrap_or_default().as_bytes())?;
            out.write_all(json.as_bytes())?;
            done = *end;
        }
        out.write_all(line.get(done..).unwrap_or_default().as_bytes())?;
        out.write_all(b"\n")
    }
}

/// Repairs a JSON line that serde rejects. The result is what the agent would read: of repeated
/// keys the last one applies, and lone surrogates are replaced. Returns `None` if the line is no
/// JSON object.
pub(crate) fn plainer(line: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(&without_lone_surrogates(line)).ok()?;
    value.is_object().then(|| value.to_string())
}

/// Returns `text` as a JSON string literal, with quotes and escapes.
pub(crate) fn quoted(text: &str) -> String {
    // Serializing a string cannot fail.
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Line<'a> {
        #[serde(borrow)]
        a: Field<'a>,
        #[serde(borrow)]
        c: Field<'a>,
    }

    fn spliced(line: &str) -> String {
        let fields: Line<'_> = serde_json::from_str(line).unwrap();
        let mut splice = Splice::default();
        splice.set(line, "c", fields.c, "null".into());
        splice.set(line, "a", fields.a, "\"new\"".into());
        let mut out = Vec::new();
        splice.write(line, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_what_is_set_changes() {
        let line = r#"{ "b":1.0,"a": "old" ,"x":{"a":"old"},"c":7 }"#;
        let want = "{ \"b\":1.0,\"a\": \"new\" ,\"x\":{\"a\":\"old\"},\"c\":null }\n";
        assert_eq!(spliced(line), want);
        assert_eq!(spliced(r#"{"c":null,"a":"new"}"#), "{\"c\":null,\"a\":\"new\"}\n");
    }

    #[test]
    fn what_is_missing_is_added() {
        assert_eq!(spliced(r#"{"b":1}"#), "{\"c\":null,\"a\":\"new\",\"b\":1}\n");
        assert_eq!(spliced("{ }"), "{\"c\":null,\"a\":\"new\" }\n");
    }

    #[test]
    fn texts_are_read_without_their_escapes() {
        let fields: Line<'_> = serde_json::from_str(r#"{"a":"a\u0062\"","c":7}"#).unwrap();
        assert_eq!(fields.a.text().as_deref(), Some("ab\""));
        assert!(fields.c.text().is_none() && !fields.c.is("7"));
    }
}

//! Reads a JSON document up to its first error: its fields and the elements of its list of records,
//! each as a slice of the document.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;

/// A JSON document that contains a list of records, split into its elements.
#[derive(Debug, Default)]
pub(crate) struct Document<'a> {
    /// The top-level fields of the document, in the order of the document, without the field from
    /// which `items` were read.
    pub(crate) fields: Vec<(Cow<'a, str>, &'a RawValue)>,
    /// The records of the document: the elements of one of its fields, or of the document itself if
    /// it is a list.
    pub(crate) items: Vec<&'a RawValue>,
    /// Whether the document has a list of records, in one of its fields or as its top-level value.
    pub(crate) has_list: bool,
    /// The first JSON error in the document. The number is the byte offset after the last value
    /// before the error. `None` if the document is valid JSON.
    pub(crate) damage: Option<(usize, String)>,
}

impl<'a> Document<'a> {
    /// Parses a JSON document that is a list of records or contains such a list. In an object, the
    /// list is the value of the field `list`. Reads up to the end or to the first JSON error.
    pub(crate) fn read(text: &'a str, list: &'static str) -> Self {
        let mut found = Self::default();
        let mut input = serde_json::Deserializer::from_str(text);
        let read = input.deserialize_any(Top { found: &mut found, list });
        if let Err(error) = read.and_then(|()| input.end()) {
            let fields = found.fields.iter().map(|(_, raw)| *raw);
            let ends = found.items.iter().copied().chain(fields);
            let ends = ends.filter_map(|raw| range(text, raw.get()).map(|range| range.end));
            found.damage = Some((ends.max().unwrap_or(0), error.to_string()));
        }
        found
    }

    /// Returns the value of the top-level field `name`. If the document has the field more than
    /// once, returns the last value.
    pub(crate) fn field(&self, name: &str) -> Option<&'a RawValue> {
        self.fields.iter().rev().find(|(key, _)| key == name).map(|(_, raw)| *raw)
    }

    /// Returns the value of the top-level field `name` if it is a string.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.field(name)?.get()).ok()
    }
}

/// Returns the byte range of `part` in `text`, or `None` if `part` is not a slice of `text`.
pub(crate) fn range(text: &str, part: &str) -> Option<Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let range = start..start.checked_add(part.len())?;
    (range.end <= text.len()).then_some(range)
}

/// Returns the elements of a JSON list. Returns no elements if the value is not a list.
pub(crate) fn elements(raw: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

struct Top<'b, 'a> {
    found: &'b mut Document<'a>,
    list: &'static str,
}

impl<'a> Visitor<'a> for Top<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            if key == self.list && !self.found.has_list {
                map.next_value_seed(Items(self.found))?;
            } else {
                self.found.fields.push((key, map.next_value()?));
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'a>>(self, seq: A) -> Result<(), A::Error> {
        Items(self.found).visit_seq(seq)
    }
}

struct Items<'b, 'a>(&'b mut Document<'a>);

impl<'a> Visitor<'a> for Items<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of records")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut seq: A) -> Result<(), A::Error> {
        self.0.has_list = true;
        while let Some(item) = seq.next_element()? {
            self.0.items.push(item);
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
}

impl<'a> DeserializeSeed<'a> for Items<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_any(self)
    }
}

struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }
            fn visit_str<E: Error>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        input.deserialize_str(KeyVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_before_damage_is_read() {
        let text = r#"{"a":1,"messages":[{"b":2}, {"c":[]} ,{"d"#;
        let found = Document::read(text, "messages");
        let items: Vec<_> = found.items.iter().map(|raw| range(text, raw.get()).unwrap()).collect();
        assert_eq!(items, [19..26, 28..36]);
        assert_eq!(found.field("a").unwrap().get(), "1");
        assert_eq!(found.damage.unwrap().0, 36);
    }

    #[test]
    fn a_list_may_be_the_document() {
        let found = Document::read("[1,2]\n", "messages");
        assert_eq!((found.items.len(), found.has_list, found.damage), (2, true, None));
        assert!(!Document::read("{\"messages\":null}", "messages").has_list);
        for bad in ["", "7", "\"x\"", "{", "[", "{\"messages\":[1]}x"] {
            assert!(Document::read(bad, "messages").damage.is_some(), "{bad}");
        }
    }
}

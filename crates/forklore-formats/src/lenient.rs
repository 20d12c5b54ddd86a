//! Lenient field types for serde: a value of an unexpected type deserializes as empty.
//!
//! Agents change their formats monthly, and a record with one unexpected field must still be
//! readable. Values of unexpected types are skipped without building them, however deeply they are
//! nested.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use forklore_core::data::without_lone_surrogates;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::author::{Author, begins_turn};

macro_rules! otherwise_empty {
    ($value:ty; $($method:ident),*) => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("any value")
        }
        $(otherwise_empty!(@$method $value);)*
    };
    (@bool $value:ty) => {
        fn visit_bool<E: Error>(self, _: bool) -> Result<$value, E> { Ok(<$value>::default()) }
    };
    (@number $value:ty) => {
        fn visit_i64<E: Error>(self, _: i64) -> Result<$value, E> { Ok(<$value>::default()) }
        fn visit_u64<E: Error>(self, _: u64) -> Result<$value, E> { Ok(<$value>::default()) }
        fn visit_f64<E: Error>(self, _: f64) -> Result<$value, E> { Ok(<$value>::default()) }
    };
    (@unit $value:ty) => {
        fn visit_unit<E: Error>(self) -> Result<$value, E> { Ok(<$value>::default()) }
    };
    (@text $value:ty) => {
        fn visit_str<E: Error>(self, _: &str) -> Result<$value, E> { Ok(<$value>::default()) }
    };
    (@list $value:ty) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<$value, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(<$value>::default())
        }
    };
    (@object $value:ty) => {
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<$value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(<$value>::default())
        }
    };
}

/// A JSON string that is read leniently: any value that is not a string becomes `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Text<'a>(Option<Cow<'a, str>>);

impl Text<'_> {
    pub(crate) fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }

    pub(crate) fn is(&self, other: &str) -> bool {
        self.get() == Some(other)
    }

    pub(crate) fn to_owned(&self) -> Option<String> {
        self.get().map(str::to_owned)
    }
}

impl From<Option<String>> for Text<'_> {
    fn from(text: Option<String>) -> Self {
        Self(text.map(Cow::Owned))
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;
    otherwise_empty!(Text<'de>; bool, number, unit, list, object);

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(text.to_owned()))))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(TextVisitor)
    }
}

/// A JSON boolean that is read leniently: any value that is not a boolean becomes `false`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Flag(pub(crate) bool);

struct FlagVisitor;

impl<'de> Visitor<'de> for FlagVisitor {
    type Value = Flag;
    otherwise_empty!(Flag; number, unit, text, list, object);

    fn visit_bool<E: Error>(self, is: bool) -> Result<Flag, E> {
        Ok(Flag(is))
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(FlagVisitor)
    }
}

/// A JSON number that is read leniently: any value that is not a number becomes 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Number(pub(crate) f64);

impl Number {
    /// Returns the number as a whole number, without its fraction. Returns 0 for a negative number
    /// or NaN.
    pub(crate) fn count(self) -> u64 {
        // `as` saturates, and converts NaN to 0.
        self.0 as u64
    }
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;
    otherwise_empty!(Number; bool, unit, text, list, object);

    fn visit_i64<E: Error>(self, n: i64) -> Result<Number, E> {
        Ok(Number(n as f64))
    }
    fn visit_u64<E: Error>(self, n: u64) -> Result<Number, E> {
        Ok(Number(n as f64))
    }
    fn visit_f64<E: Error>(self, n: f64) -> Result<Number, E> {
        Ok(Number(n))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(NumberVisitor)
    }
}

/// A JSON number that is read leniently: any value that is not a whole number of at least 0 becomes
/// `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Whole(pub(crate) Option<u64>);

struct WholeVisitor;

impl<'de> Visitor<'de> for WholeVisitor {
    type Value = Whole;
    otherwise_empty!(Whole; bool, unit, text, list, object);

    fn visit_i64<E: Error>(self, n: i64) -> Result<Whole, E> {
        Ok(Whole(u64::try_from(n).ok()))
    }
    fn visit_u64<E: Error>(self, n: u64) -> Result<Whole, E> {
        Ok(Whole(Some(n)))
    }
    fn visit_f64<E: Error>(self, _: f64) -> Result<Whole, E> {
        Ok(Whole(None))
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(WholeVisitor)
    }
}

/// A JSON list of `T`s that is read leniently: any value that is not a list becomes an empty list.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Many<T>(pub(crate) Vec<T>);

struct ManyVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for ManyVisitor<T> {
    type Value = Many<T>;
    otherwise_empty!(Many<T>; bool, number, unit, text, object);

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Many<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = seq.next_element()? {
            all.push(one);
        }
        Ok(Many(all))
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(ManyVisitor(PhantomData))
    }
}

/// A JSON object that is read leniently as a `T`. Any value that is not an object becomes the
/// default of `T`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Object<T>(pub(crate) T);

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;
    otherwise_empty!(Object<T>; bool, number, unit, text, list);

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
        T::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(Object)
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(ObjectVisitor(PhantomData))
    }
}

/// The content of a message in most APIs: a string, or a list of blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum MessageContent<T> {
    /// The content is absent, or neither a string nor a list.
    #[default]
    Nothing,
    /// The content is a string. Only the author of the text is stored here.
    Text(Author),
    /// The content is a list of blocks. An element that is not an object becomes an empty block.
    Blocks(Vec<T>),
}

impl<T> MessageContent<T> {
    pub(crate) fn blocks(&self) -> &[T] {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Nothing | Self::Text(_) => &[],
        }
    }

    /// Checks whether a user message with this content begins a turn. `author` returns the author
    /// of a block. The author of a block that a person attaches, such as an image, is that person.
    pub(crate) fn begins_turn(&self, author: impl Fn(&T) -> Author) -> bool {
        match self {
            Self::Text(author) => begins_turn([*author]),
            Self::Nothing | Self::Blocks(_) => begins_turn(self.blocks().iter().map(author)),
        }
    }
}

struct MessageContentVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for MessageContentVisitor<T> {
    type Value = MessageContent<T>;
    otherwise_empty!(MessageContent<T>; bool, number, unit, object);

    fn visit_str<E: Error>(self, text: &str) -> Result<MessageContent<T>, E> {
        Ok(MessageContent::Text(Author::of(text)))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<MessageContent<T>, A::Error> {
        let mut blocks = Vec::new();
        while let Some(Object(block)) = seq.next_element()? {
            blocks.push(block);
        }
        Ok(MessageContent::Blocks(blocks))
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for MessageContent<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(MessageContentVisitor(PhantomData))
    }
}

/// Deserializes the fields of a JSON line. If serde rejects the line, repairs it as the agent would
/// read it, and tries again: of repeated keys the last one applies, and lone surrogates are
/// replaced. The repaired line is stored in `plainer`. The error is the message for a
/// [`Line::Damage`](forklore_core::agent_format::Line).
pub(crate) fn fields<'a, T: Deserialize<'a>>(
    line: &'a str,
    plainer: &'a mut String,
) -> Result<T, String> {
    if let Ok(fields) = serde_json::from_str(line) {
        return Ok(fields);
    }
    let damage = |error: serde_json::Error| error.to_string();
    let value: Result<serde_json::Value, _> = serde_json::from_str(&without_lone_surrogates(line));
    let Ok(value) = value else { return Err("not a JSON object".into()) };
    *plainer = serde_json::to_string(&value).map_err(damage)?;
    serde_json::from_str(plainer).map_err(damage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default)]
    struct Probe<'a> {
        #[serde(borrow)]
        text: Text<'a>,
        flag: Flag,
        number: Number,
        whole: Whole,
        #[serde(borrow)]
        many: Many<Text<'a>>,
        content: MessageContent<Inner>,
        object: Object<Inner>,
    }

    #[derive(Clone, Debug, Default, Deserialize, PartialEq)]
    #[serde(default)]
    struct Inner {
        flag: Flag,
    }

    #[test]
    fn what_has_another_form_reads_as_empty() {
        let values = ["null", "true", "7", "-7", "1.5", "\"x\"", "[1,[2]]", "{\"a\":{\"b\":[]}}"];
        for value in values {
            for field in ["text", "flag", "number", "whole", "many", "content", "object"] {
                let line = format!("{{\"{field}\":{value},\"more\":{value}}}");
                assert!(serde_json::from_str::<Probe<'_>>(&line).is_ok(), "{line}");
            }
        }
        let line = r#"{"text":"a\n","flag":true,"number":2.5,"whole":7,"many":["a",1],"content":[{"flag":true},3],"object":{"flag":true}}"#;
        let probe: Probe<'_> = serde_json::from_str(line).unwrap();
        assert_eq!(probe.text.get(), Some("a\n"));
        assert_eq!(probe.whole, Whole(Some(7)));
        let many: Vec<_> = probe.many.0.iter().map(Text::get).collect();
        assert_eq!(many, [Some("a"), None]);
        let yes = Inner { flag: Flag(true) };
        assert_eq!(probe.content, MessageContent::Blocks(vec![yes.clone(), Inner::default()]));
        assert_eq!((probe.flag.0, probe.number.count(), probe.object), (true, 2, Object(yes)));
    }

    #[test]
    fn unread_values_may_be_as_deep_as_they_like() {
        let deep = format!("{{\"more\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(serde_json::from_str::<Probe<'_>>(&deep).is_ok());
    }
}

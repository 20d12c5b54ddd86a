//! Finds the attachments that a payload mentions.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::{AttachmentId, SCHEME};
use crate::Data;

/// A string in a payload that names an attachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The attachment that the string names.
    pub id: AttachmentId,
    /// The file name and media type that the message part states, if the string is the `ref` of an
    /// attachment part. `None` if it is any other string of the payload; that string may have
    /// another meaning than to name an attachment.
    pub part: Option<Named>,
}

/// The name and media type of an attachment, as a message part of type `attachment` states them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// The attachment's file name, if the message part states one.
    pub name: Option<String>,
    /// The attachment's media type, such as `image/png`; empty if the message part states none.
    pub media_type: String,
}

/// Returns the attachments that a payload mentions. A mention is the `ref` of a part
/// `{type:"attachment",ref}` at any depth, or any other string value that is exactly an attachment
/// name. Keys of objects are not mentions.
#[must_use]
pub fn mentions(data: &Data) -> Vec<Mention> {
    let text = data.get();
    if !may_mention(text.as_bytes()) {
        return Vec::new();
    }
    let mut walk = Walk::default();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '{', '}', '[', ']', ':', ',']) {
        let (token, behind) = rest.split_at(at).1.split_at(1);
        rest = behind;
        match token {
            "\"" => {
                let end = end_of_string(rest);
                walk.text(rest.get(..end).unwrap_or_default());
                rest = rest.get(end + 1..).unwrap_or_default();
            }
            "{" => walk.enter(Some(Object::default())),
            "[" => walk.enter(None),
            "}" | "]" => walk.close(),
            ":" => walk.is_value = true,
            _ => walk.is_value = false,
        }
    }
    walk.found
}

/// Checks quickly, before the real search, whether the JSON text may mention an attachment. An
/// import searches every event, and hardly any event mentions an attachment. Returns `false` only
/// if the text contains neither the prefix of an attachment name nor an escape that may stand for
/// one of the prefix's characters.
fn may_mention(json: &[u8]) -> bool {
    static PREFIX: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(SCHEME));
    static ESCAPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\\u00"));
    // `sha256:` consists of characters from U+0030 to U+003A, U+0061 to U+0068, and U+0073.
    let escapes_prefix = |at: usize| matches!(json.get(at + 4), Some(b'3' | b'6' | b'7'));
    PREFIX.find(json).is_some() || ESCAPE.find_iter(json).any(escapes_prefix)
}

/// Returns the byte offset of the closing quote of a JSON string. `text` begins directly after the
/// opening quote.
fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.unwrap_or(text.len())
}

/// The state of a search for attachment names in valid JSON. The search does not recurse, so that
/// deeply nested JSON cannot overflow the stack.
#[derive(Default)]
struct Walk<'a> {
    /// The objects (`Some`) and arrays (`None`) that enclose the current position, outermost first.
    open: Vec<Option<Object<'a>>>,
    /// Whether the next string is the value of a field, because a colon precedes it.
    is_value: bool,
    found: Vec<Mention>,
}

#[derive(Default)]
struct Object<'a> {
    key: Cow<'a, str>,
    is_attachment: bool,
    reference: Option<AttachmentId>,
    named: Named,
}

impl<'a> Walk<'a> {
    fn enter(&mut self, object: Option<Object<'a>>) {
        self.open.push(object);
        self.is_value = false;
    }

    fn text(&mut self, raw: &'a str) {
        let Some(text) = unescaped(raw) else { return };
        let Some(Some(object)) = self.open.last_mut() else {
            return self.found.extend(text.parse().ok().map(|id| Mention { id, part: None }));
        };
        if !self.is_value {
            object.key = text;
            return;
        }
        let id = text.parse().ok();
        match &*object.key {
            // If a field occurs twice, readers use the last one.
            "ref" => {
                let earlier = object.reference.take().map(|id| Mention { id, part: None });
                object.reference = id;
                self.found.extend(earlier);
                return;
            }
            "type" => object.is_attachment = text == "attachment",
            "name" => object.named.name = Some(text.into_owned()),
            "media_type" => object.named.media_type = text.into_owned(),
            _ => {}
        }
        self.found.extend(id.map(|id| Mention { id, part: None }));
    }

    fn close(&mut self) {
        self.is_value = false;
        if let Some(Some(Object { is_attachment, reference: Some(id), named, .. })) =
            self.open.pop()
        {
            self.found.push(Mention { id, part: is_attachment.then_some(named) });
        }
    }
}

/// Decodes the escapes in `raw`, the inside of a JSON string without the quotes. Returns `None` if
/// the result is not valid Unicode.
fn unescaped(raw: &str) -> Option<Cow<'_, str>> {
    if !raw.contains('\\') {
        return Some(Cow::Borrowed(raw));
    }
    serde_json::from_str(&format!("\"{raw}\"")).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(digit: char) -> String {
        format!("sha256:{}", digit.to_string().repeat(64))
    }

    fn found(json: &str) -> Vec<(char, Option<(String, String)>)> {
        let found = mentions(&Data::parse(json).unwrap()).into_iter().map(|mention| {
            let part = mention.part.map(|named| (named.name.unwrap_or_default(), named.media_type));
            (mention.id.hex().chars().next().unwrap(), part)
        });
        found.collect()
    }

    #[test]
    fn parts_are_found_at_any_depth() {
        let (a, b) = (name('a'), name('b'));
        let json = format!(
            r#"{{"content":[{{"type":"text","text":"x"}},
                {{"type":"attachment","ref":"{a}","media_type":"image/png","name":"p.png"}},
                {{"content":[[{{"media_type":"text/plain","ref":"{b}","type":"attachment"}}]]}}]}}"#
        );
        let part = |name: &str, kind: &str| Some((name.to_owned(), kind.to_owned()));
        assert_eq!(
            found(&json),
            [('a', part("p.png", "image/png")), ('b', part("", "text/plain"))]
        );
        let deep = format!("{}{{\"ref\":\"{a}\"}}{}", "[".repeat(9_000), "]".repeat(9_000));
        assert_eq!(found(&deep), [('a', None)]);
    }

    #[test]
    fn any_other_text_that_is_a_name_is_a_mention() {
        let [a, b, c, d] = ['a', 'b', 'c', 'd'].map(name);
        assert_eq!(found(&format!("\"{a}\"")), [('a', None)]);
        assert_eq!(found(&format!(r#"{{"x":"{a}","ref":"{b}"}}"#)), [('a', None), ('b', None)]);
        assert_eq!(found(&format!(r#"["{a}",{{"ref":["{b}"]}},"{c}"]"#)).len(), 3);
        let twice = format!(r#"{{"type":"attachment","ref":"{c}","ref":"{d}"}}"#);
        let part = Some((String::new(), String::new()));
        assert_eq!(found(&twice), [('c', None), ('d', part)]);
        assert_eq!(found(&format!(r#"{{"text":"see {a}","{b}":1}}"#)), []);
    }

    #[test]
    fn escapes_hide_no_name_and_end_no_string() {
        let a = name('a').replace(':', "\\u003a");
        let part = Some((String::new(), String::new()));
        assert_eq!(found(&format!(r#"{{"r\u0065f":"{a}","type":"attachment"}}"#)), [('a', part)]);
        for character in SCHEME.chars() {
            let escape = format!("\\u{:04x}", u32::from(character));
            let escaped = name('a').replacen(character, &escape, 1);
            assert_eq!(found(&format!("[\"{escaped}\"]")), [('a', None)], "{escaped}");
        }
        let (b, quoted) = (name('b'), r#"\\\" , { \\"#);
        assert_eq!(found(&format!(r#"{{"text":"{quoted}","ref":"{b}"}}"#)), [('b', None)]);
        assert_eq!(found(&format!(r#"{{"cut":"\ud83d","ref":"{b}"}}"#)), [('b', None)]);
    }
}

//! Describes pretty-printed JSON by its layout and its payload on one line. With this description,
//! the store needs no second copy of the bytes.

use forklore_store::sources::LineEnd;

/// The layout of a JSON value that is printed on several lines, as `JSON.stringify` and Python do
/// with an indent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spread<'a> {
    /// The bytes at the start of every line of the printed JSON except the first.
    pub margin: &'a [u8],
    /// The bytes by which each nesting level of objects and lists is indented.
    pub indent: &'a [u8],
    /// The line ending of the printed JSON.
    pub end: LineEnd,
}

impl<'a> Spread<'a> {
    /// Finds the layout with which pretty-printing the one-line JSON `payload` gives exactly
    /// `bytes`. Returns `None` if there is no such layout.
    pub fn of(bytes: &'a [u8], payload: &[u8]) -> Option<Self> {
        let first = memchr::memchr(b'\n', bytes)?;
        let end = match bytes.get(..first)?.ends_with(b"\r") {
            true => LineEnd::CrLf,
            false => LineEnd::Lf,
        };
        let space = |line: &'a [u8]| line.get(..line.len() - line.trim_ascii_start().len());
        let last = memchr::memrchr(b'\n', bytes)?;
        let margin = space(bytes.get(last + 1..)?)?;
        let second = space(bytes.get(first + 1..)?)?;
        let spread = Self { margin, indent: second.strip_prefix(margin)?, end };
        (spread.apply(payload) == bytes).then_some(spread)
    }

    /// Pretty-prints the JSON in `payload` with this layout. `payload` must be on one line without
    /// spaces between tokens.
    pub fn apply(&self, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(payload.len() * 2);
        let (mut depth, mut at) = (0_usize, 0);
        while let Some(byte) = payload.get(at) {
            let next = payload.get(at + 1);
            let len = match byte {
                b'"' => string_len(payload.get(at..).unwrap_or_default()),
                b'{' if next == Some(&b'}') => 2,
                b'[' if next == Some(&b']') => 2,
                _ => 1,
            };
            if len == 1 && matches!(byte, b'}' | b']') {
                depth = depth.saturating_sub(1);
                self.begin_line(&mut out, depth);
            }
            out.extend_from_slice(payload.get(at..at + len).unwrap_or_default());
            match byte {
                b'{' | b'[' if len == 1 => {
                    depth += 1;
                    self.begin_line(&mut out, depth);
                }
                b',' => self.begin_line(&mut out, depth),
                b':' => out.push(b' '),
                _ => {}
            }
            at += len;
        }
        out
    }

    fn begin_line(&self, out: &mut Vec<u8>, depth: usize) {
        out.extend_from_slice(self.end.bytes());
        out.extend_from_slice(self.margin);
        (0..depth).for_each(|_| out.extend_from_slice(self.indent));
    }
}

/// Returns the length in bytes of the JSON string at the start of `bytes`, including its quotes.
pub fn string_len(bytes: &[u8]) -> usize {
    let mut escaped = false;
    let end = bytes.iter().skip(1).position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    end.map_or(bytes.len(), |at| at + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"{"a":[1,{"b":[],"c":{}}],"d:,{":"x\",[","e":null}"#;
    const SPREAD: &str = "{\n  \"a\": [\n    1,\n    {\n      \"b\": [],\n      \"c\": {}\n    }\n  ],\n  \
                          \"d:,{\": \"x\\\",[\",\n  \"e\": null\n}";

    #[test]
    fn what_a_program_spreads_comes_back_byte_for_byte() {
        let moved = SPREAD.replace('\n', "\n    ");
        let (tabs, windows) = (SPREAD.replace("  ", "\t"), moved.replace('\n', "\r\n"));
        for (text, margin, indent, end) in [
            (SPREAD, "", "  ", LineEnd::Lf),
            (&moved, "    ", "  ", LineEnd::Lf),
            (&tabs, "", "\t", LineEnd::Lf),
            (&windows, "    ", "  ", LineEnd::CrLf),
            (&SPREAD.replace("  ", ""), "", "", LineEnd::Lf),
        ] {
            let spread = Spread::of(text.as_bytes(), ONE.as_bytes()).unwrap();
            let expected = Spread { margin: margin.as_bytes(), indent: indent.as_bytes(), end };
            assert_eq!(spread, expected);
            assert_eq!(spread.apply(ONE.as_bytes()), text.as_bytes());
        }
        let by_serde = serde_json::from_str::<serde_json::Value>(r#"{"a":[1,{"b":[]}]}"#).unwrap();
        let pretty = serde_json::to_string_pretty(&by_serde).unwrap();
        assert!(Spread::of(pretty.as_bytes(), by_serde.to_string().as_bytes()).is_some());
    }

    #[test]
    fn whatever_else_somebody_wrote_is_no_spread() {
        let by_hand = [
            SPREAD.replace("[],", "[ ],"),
            SPREAD.replace("null\n", "null \n"),
            SPREAD.replacen("\n", "\r\n", 2),
            SPREAD.replace("\"e\": ", "\"e\" : "),
            ONE.to_owned(),
            "{".into(),
            "\n".into(),
            String::new(),
        ];
        for text in by_hand {
            assert_eq!(Spread::of(text.as_bytes(), ONE.as_bytes()), None, "{text}");
        }
        assert_eq!(Spread::of(b"{\n \xff\n}", b"{?}"), None);
    }
}

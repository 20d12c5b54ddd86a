//! Redacts an API key: every recognisable part of the key in error messages, and the whole key in
//! responses.

/// The text that replaces a key.
const INSTEAD: &str = "[key]";
/// The shortest part of a key that is redacted, in characters.
const MIN_PART_LENGTH: usize = 8;
/// The minimum length, in bytes, of a key that is redacted in responses. A shorter key, such as
/// `ollama`, may be an ordinary word of a response.
const MIN_SECRET_LENGTH: usize = 16;

/// Redacts the key in `text`. Also redacts parts of the key of at least [`MIN_PART_LENGTH`]
/// characters, forms that are escaped for JSON, URLs or HTML, and partly masked forms such as
/// `sk-ab12...wxyz`.
pub(super) fn redact(text: &str, key: &str) -> String {
    let key: Vec<char> = key.chars().collect();
    let read = read(text);
    let part = MIN_PART_LENGTH.min(key.len());
    let mut out = String::with_capacity(text.len());
    let (mut at, mut copied) = (0, 0);
    while at < read.len() {
        let len = longest(read.get(at..).unwrap_or_default(), &key);
        let (Some(first), true) = (read.get(at), len >= part) else {
            at += 1;
            continue;
        };
        out.push_str(text.get(copied..first.from).unwrap_or_default());
        out.push_str(INSTEAD);
        at += len + masked(read.get(at + len..).unwrap_or_default(), &key);
        copied = at.checked_sub(1).and_then(|last| read.get(last)).map_or(copied, |last| last.to);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    out
}

/// A decoded character, and the byte range of the text that encodes the character.
struct Read {
    char: char,
    from: usize,
    to: usize,
}

/// Decodes the escape sequences in `text`, and returns all characters of the text.
fn read(text: &str) -> Vec<Read> {
    let mut all = Vec::with_capacity(text.len());
    let mut from = 0;
    while let Some(rest) = text.get(from..).filter(|rest| !rest.is_empty()) {
        let plain = || rest.chars().next().map(|char| (char, char.len_utf8()));
        let Some((char, len)) = escape(rest).or_else(plain) else { break };
        all.push(Read { char, from, to: from + len });
        from += len;
    }
    all
}

/// Decodes the escape sequence of JSON, of a URL or of HTML at the start of `text`. Returns the
/// character, and the length of the sequence in bytes. Returns `None` if there is no such sequence.
fn escape(text: &str) -> Option<(char, usize)> {
    let code =
        |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    if let Some(rest) = text.strip_prefix("\\u") {
        return Some((code(rest.get(..4)?, 16)?, 6));
    }
    if text.starts_with("\\/") {
        return Some(('/', 2));
    }
    if let Some(rest) = text.strip_prefix('%') {
        return Some((code(rest.get(..2)?, 16).filter(char::is_ascii)?, 3));
    }
    let (digits, _) = text.strip_prefix("&#")?.split_once(';').filter(|(it, _)| it.len() <= 8)?;
    let char = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => code(digits, 16)?,
        None => code(digits, 10)?,
    };
    Some((char, digits.len() + 3))
}

/// Returns the length, in characters, of the longest part of the key with which `text` begins.
fn longest(text: &[Read], key: &[char]) -> usize {
    let common = |from: usize| {
        let pairs = text.iter().zip(key.iter().skip(from));
        pairs.take_while(|(read, char)| read.char == **char).count()
    };
    (0..key.len()).map(common).max().unwrap_or(0)
}

/// Returns the length, in characters, of a mask such as `...` together with the end of the key that
/// follows the mask. `text` begins after a part of the key. Returns 0 if `text` does not begin with
/// a mask and the end of the key.
fn masked(text: &[Read], key: &[char]) -> usize {
    let is_mask = |read: &&Read| matches!(read.char, '*' | '.' | '\u{2026}' | '\u{2022}');
    let mask = text.iter().take_while(is_mask).count();
    if mask == 0 {
        return 0;
    }
    let behind = text.get(mask..).unwrap_or_default();
    let ends = |len: &usize| {
        let end = key.get(key.len() - len..).unwrap_or_default();
        end.iter().zip(behind).filter(|(char, read)| **char == read.char).count() == *len
    };
    // The end of the key needs at least two characters: a single character may belong to the next
    // word.
    (2..=key.len()).rev().find(ends).map_or(0, |end| mask + end)
}

/// A redactor of the whole key in a stream of text chunks, even if the key is split over several
/// chunks.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// The end of the text so far, if it may be the start of the key.
    pending: String,
}

impl Flow {
    /// Appends a chunk of text to the stream. Returns the redacted text that can no longer become a
    /// part of the key.
    pub(super) fn pass(&mut self, more: &str, key: &str) -> String {
        let mut text = std::mem::take(&mut self.pending);
        text.push_str(more);
        let mut text = text.replace(key, INSTEAD);
        let begins = |at: &usize| text.get(*at..).is_some_and(|end| key.starts_with(end));
        let first = text.len().saturating_sub(key.len());
        let pending_from = (first..text.len()).find(begins).unwrap_or(text.len());
        self.pending = text.split_off(pending_from);
        text
    }

    /// Returns the pending text at the end of the response. This text is not the whole key.
    pub(super) fn rest(&mut self) -> String {
        std::mem::take(&mut self.pending)
    }
}

/// Returns the text with each occurrence of the whole key redacted.
pub(super) fn redact_key(text: &str, key: &str) -> String {
    text.replace(key, INSTEAD)
}

/// Checks whether this key is redacted in responses.
pub(super) fn is_secret(key: &str) -> bool {
    key.len() >= MIN_SECRET_LENGTH
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-ant-0123456789abcdef/wxyz";

    #[test]
    fn parts_of_a_key_are_hidden_however_they_are_written() {
        for (text, expected) in [
            ("no key sk-ant-0123456789abcdef/wxyz!", "no key [key]!"),
            ("no key sk-ant-0...", "no key [key]..."),
            ("no key sk-ant-0*****wxyz.", "no key [key]."),
            ("no key sk-ant-01\u{2026}yz and more", "no key [key] and more"),
            ("ends in 9abcdef/wxyz", "ends in [key]"),
            (r"\u0073\u006b\u002dant-0123456789abcdef\/wxyz", "[key]"),
            ("?key=sk%2Dant%2d0123456789abcdef%2Fwxyz&x", "?key=[key]&x"),
            ("sk&#45;ant&#x2d;0123456789", "[key]"),
            ("twice sk-ant-0123, 456789abc", "twice [key], [key]"),
            ("sk-ant- is how keys begin...", "sk-ant- is how keys begin..."),
            (
                "100 % of \\u00zz and %zz \u{e9} &#; &#x110000;",
                "100 % of \\u00zz and %zz \u{e9} &#; &#x110000;",
            ),
            ("", ""),
        ] {
            assert_eq!(redact(text, KEY), expected, "{text}");
        }
        assert_eq!(redact("a pass, a password", "pass"), "a [key], a [key]word");
    }

    #[test]
    fn a_key_is_redacted_wherever_the_pieces_are_cut() {
        let text = format!("a {KEY}, sk-ant-01 and sk-ant-{KEY}sk-");
        let expected = "a [key], sk-ant-01 and sk-ant-[key]sk-";
        for len in 1..text.len() {
            let mut flow = Flow::default();
            let mut passed = String::new();
            for piece in text.as_bytes().chunks(len) {
                let piece = std::str::from_utf8(piece).unwrap();
                passed.push_str(&flow.pass(piece, KEY));
                assert!(!passed.contains(KEY), "{len}: {passed}");
            }
            assert!(flow.pending.len() < KEY.len());
            passed.push_str(&flow.rest());
            assert_eq!(passed, expected, "{len}");
        }
        // Text that cannot be the start of the key is passed on immediately.
        assert_eq!(Flow::default().pass("plain \u{e9}", KEY), "plain \u{e9}");
    }
}

//! Puts values into a text in JSON, and takes them out again. All other bytes stay, and comments
//! are understood: a value that is taken out leaves the text as it was before.

use std::ops::Range;

/// The depth up to which values are read.
const DEEPEST: usize = 64;

/// A value of an object or an array.
struct Entry {
    /// The name, for a value of an object.
    name: Option<String>,
    /// Where the entry begins: at its name, or at its value.
    start: usize,
    value: Range<usize>,
}

/// An object or an array in a text.
struct Container {
    open: usize,
    close: usize,
    entries: Vec<Entry>,
}

impl Container {
    fn get(&self, name: &str) -> Option<(usize, &Entry)> {
        let mut entries = self.entries.iter().enumerate();
        entries.rfind(|(_, entry)| entry.name.as_deref() == Some(name))
    }
}

/// Returns the text with `value` at the end of the array that `path` names. Objects and the array
/// are added if they do not exist.
pub(super) fn with(text: &str, path: &[&str], value: &str) -> Result<String, String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let mut at = start(text);
    for (depth, name) in path.iter().enumerate() {
        let object = container(text, at, b'{', depth)?;
        match object.get(name) {
            Some((_, entry)) => at = entry.value.start,
            None => {
                let rest = path.get(depth + 1..).unwrap_or_default();
                let inner = nested(rest, value, depth + 2);
                let entry = format!("{}: {inner}", quoted(name));
                return Ok(inserted(text, &object, &entry, depth + 1));
            }
        }
    }
    let array = container(text, at, b'[', path.len())?;
    Ok(inserted(text, &array, value, path.len() + 1))
}

/// Returns the text without the values of the array that `path` names which `is_ours` accepts. If
/// such a value has an array `inner` with values that are not ours, those stay. What is empty then is
/// taken out too. `None` if there is no such value.
pub(super) fn without(
    text: &str,
    path: &[&str],
    inner: &str,
    is_ours: &impl Fn(&str) -> bool,
) -> Result<Option<String>, String> {
    let Some(array) = find(text, path)? else { return Ok(None) };
    let Some((array, at)) = last_of_ours(text, array, inner, is_ours)? else { return Ok(None) };
    let mut text = cut(text, &array, at);
    // Whether the array or an object around it is empty now.
    for depth in (0..path.len()).rev() {
        let Some((name, above)) = path.get(..=depth).and_then(<[&str]>::split_last) else { break };
        let Some(inner) = find(&text, path.get(..=depth).unwrap_or_default())? else { break };
        if !inner.entries.is_empty() {
            break;
        }
        let Some(outer) = find(&text, above)? else { break };
        let Some((at, _)) = outer.get(name) else { break };
        text = cut(&text, &outer, at);
    }
    Ok(Some(without(&text, path, inner, is_ours)?.unwrap_or(text)))
}

/// Returns the array with the last value that is ours, and the position of the value in it.
fn last_of_ours(
    text: &str,
    array: Container,
    inner: &str,
    is_ours: &impl Fn(&str) -> bool,
) -> Result<Option<(Container, usize)>, String> {
    let is_own = |entry: &Entry| is_ours(text.get(entry.value.clone()).unwrap_or_default());
    let mut last = None;
    for (at, entry) in array.entries.iter().enumerate().filter(|(_, entry)| is_own(entry)) {
        let Some(group) = array_in(text, entry, inner)? else {
            last = Some((None, at));
            continue;
        };
        match group.entries.iter().rposition(is_own) {
            Some(_) if group.entries.iter().all(is_own) => last = Some((None, at)),
            Some(at) => last = Some((Some(group), at)),
            // Something else of the group has the text by which ours are recognised.
            None => {}
        }
    }
    Ok(last.map(|(group, at)| (group.unwrap_or(array), at)))
}

/// Returns the array with this name in an entry, if the entry is an object that has it.
fn array_in(text: &str, entry: &Entry, name: &str) -> Result<Option<Container>, String> {
    let begins = |at: usize, bracket: u8| text.as_bytes().get(at) == Some(&bracket);
    if !begins(entry.value.start, b'{') {
        return Ok(None);
    }
    let object = container(text, entry.value.start, b'{', 0)?;
    match object.get(name) {
        Some((_, inner)) if begins(inner.value.start, b'[') => {
            container(text, inner.value.start, b'[', 0).map(Some)
        }
        _ => Ok(None),
    }
}

/// Returns the values of the array that `path` names.
pub(super) fn values<'t>(text: &'t str, path: &[&str]) -> Result<Vec<&'t str>, String> {
    let Some(array) = find(text, path)? else { return Ok(Vec::new()) };
    Ok(array.entries.iter().filter_map(|entry| text.get(entry.value.clone())).collect())
}

fn find(text: &str, path: &[&str]) -> Result<Option<Container>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let mut at = start(text);
    for (depth, name) in path.iter().enumerate() {
        let object = container(text, at, b'{', depth)?;
        let Some((_, entry)) = object.get(name) else { return Ok(None) };
        at = entry.value.start;
    }
    let open = text.as_bytes().get(at).copied().unwrap_or_default();
    container(text, at, open, path.len()).map(Some)
}

fn start(text: &str) -> usize {
    let begin = if text.starts_with('\u{feff}') { 3 } else { 0 };
    skip(text.as_bytes(), begin)
}

fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth)
}

/// Returns objects with these names around an array with `value`.
fn nested(names: &[&str], value: &str, depth: usize) -> String {
    let (inside, outside) = (indent(depth), indent(depth - 1));
    match names.split_first() {
        None => format!("[\n{inside}{value}\n{outside}]"),
        Some((name, rest)) => {
            let inner = nested(rest, value, depth + 1);
            format!("{{\n{inside}{}: {inner}\n{outside}}}", quoted(name))
        }
    }
}

fn inserted(text: &str, container: &Container, entry: &str, depth: usize) -> String {
    let (at, entry) = match container.entries.last() {
        Some(last) => (last.value.end, format!(",\n{}{entry}", indent(depth))),
        None => {
            let entry = format!("\n{}{entry}\n{}", indent(depth), indent(depth - 1));
            (container.open + 1, entry)
        }
    };
    let (before, after) = text.split_at(at);
    format!("{before}{entry}{after}")
}

/// Takes an entry out, with what [`inserted`] put around it.
fn cut(text: &str, container: &Container, at: usize) -> String {
    let Some(entry) = container.entries.get(at) else { return text.to_owned() };
    let before = at.checked_sub(1).and_then(|before| container.entries.get(before));
    let range = match (before, container.entries.get(at + 1)) {
        (Some(before), _) => before.value.end..entry.value.end,
        (None, Some(after)) => entry.start..after.start,
        (None, None) => {
            let rest = text.get(entry.value.end..container.close).unwrap_or_default();
            let blank = rest.strip_prefix('\n').map(|rest| rest.trim_start_matches(' '));
            let end = blank.map_or(entry.value.end, |blank| container.close - blank.len());
            container.open + 1..end
        }
    };
    let (head, tail) = (text.get(..range.start), text.get(range.end..));
    format!("{}{}", head.unwrap_or_default(), tail.unwrap_or_default())
}

/// Reads the object or array that begins at a position.
fn container(text: &str, open: usize, bracket: u8, depth: usize) -> Result<Container, String> {
    let bytes = text.as_bytes();
    let what = if bracket == b'[' { "array" } else { "object" };
    let wrong = |at: usize| {
        let line = 1 + bytes.iter().take(at).filter(|&&byte| byte == b'\n').count();
        format!("line {line} is not what JSON has there")
    };
    if bytes.get(open) != Some(&bracket) || !matches!(bracket, b'{' | b'[') {
        return Err(format!("{}, where an {what} belongs", wrong(open)));
    }
    if depth > DEEPEST {
        return Err("it is too deep".to_owned());
    }
    let close = if bracket == b'[' { b']' } else { b'}' };
    let mut entries = Vec::new();
    let mut at = skip(bytes, open + 1);
    while bytes.get(at) != Some(&close) {
        let start = at;
        let mut name = None;
        if bracket == b'{' {
            let end = string(bytes, at).ok_or_else(|| wrong(at))?;
            name = text.get(at..end).and_then(|name| serde_json::from_str(name).ok());
            at = skip(bytes, end);
            if bytes.get(at) != Some(&b':') {
                return Err(wrong(at));
            }
            at = skip(bytes, at + 1);
        }
        let end = match bytes.get(at) {
            Some(&inner @ (b'{' | b'[')) => container(text, at, inner, depth + 1)?.close + 1,
            Some(b'"') => string(bytes, at).ok_or_else(|| wrong(at))?,
            _ => word(bytes, at).ok_or_else(|| wrong(at))?,
        };
        entries.push(Entry { name, start, value: at..end });
        at = skip(bytes, end);
        match bytes.get(at) {
            Some(b',') => at = skip(bytes, at + 1),
            Some(byte) if *byte == close => {}
            _ => return Err(wrong(at)),
        }
    }
    Ok(Container { open, close: at, entries })
}

/// Returns the end of the string that begins at a position.
fn string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut rest = bytes.iter().enumerate().skip(at);
    rest.next().filter(|(_, byte)| **byte == b'"')?;
    while let Some((at, byte)) = rest.next() {
        match byte {
            b'"' => return Some(at + 1),
            b'\\' => drop(rest.next()),
            _ => {}
        }
    }
    None
}

/// Returns the end of the number or word that begins at a position.
fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let of_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let length = bytes.iter().skip(at).take_while(|byte| of_word(byte)).count();
    (length > 0).then_some(at + length)
}

/// Returns the position of the next byte that is no white space and in no comment.
fn skip(bytes: &[u8], mut at: usize) -> usize {
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let length = match rest {
            [byte, ..] if byte.is_ascii_whitespace() => 1,
            [b'/', b'/', ..] => rest.iter().take_while(|byte| **byte != b'\n').count(),
            [b'/', b'*', ..] => {
                let end = rest.windows(2).skip(2).position(|pair| pair == b"*/");
                end.map_or(rest.len(), |end| end + 4)
            }
            _ => return at,
        };
        at += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: [&str; 2] = ["hooks", "Stop"];

    fn is_ours(value: &str) -> bool {
        value.contains("ours")
    }

    #[test]
    fn an_entry_that_is_added_and_removed_leaves_every_byte() {
        for before in [
            "{}\n",
            "{\"a\": 1}",
            "{ // first\n\t\"a\": [1, 2,], /* } */\n}\n",
            "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"theirs\": \"]\\\"\"}\n    ]\n  },\n  \"z\": 1.50\n}\n",
            "{\"hooks\":{\"Start\":[{}]},\"b\":{\"Stop\":[\"ours\"]}}",
            "{\"hooks\": {\"Stop\": [1,2]}}",
        ] {
            let after = with(before, &PATH, "{\"command\": \"ours\"}").unwrap();
            assert_eq!(values(&after, &PATH).unwrap().last().unwrap(), &"{\"command\": \"ours\"}");
            assert_eq!(without(&after, &PATH, "hooks", &is_ours).unwrap().unwrap(), before);
            assert_eq!(without(before, &PATH, "hooks", &is_ours).unwrap(), None, "{before}");
        }
        let new = with("", &PATH, "\"ours\"").unwrap();
        let expected = "{\n  \"hooks\": {\n    \"Stop\": [\n      \"ours\"\n    ]\n  }\n}\n";
        assert_eq!(new, expected);
        assert_eq!(without(&new, &PATH, "hooks", &is_ours).unwrap().unwrap(), "{}\n");
    }

    #[test]
    fn what_came_later_stays() {
        let text = "{\"hooks\": {\"Stop\": [\"ours\", 1, \"ours\"], \"b\": []}}";
        let without = without(text, &PATH, "hooks", &is_ours).unwrap().unwrap();
        assert_eq!(without, "{\"hooks\": {\"Stop\": [1], \"b\": []}}");
    }

    #[test]
    fn another_hook_of_the_same_group_stays() {
        for (text, rest) in [
            (
                r#"{"hooks": {"Stop": [{"hooks": ["mine", "ours"]}]}}"#,
                r#"{"hooks": {"Stop": [{"hooks": ["mine"]}]}}"#,
            ),
            (
                r#"{"hooks": {"Stop": [{"hooks": ["ours", "ours", "mine"]}, 1]}}"#,
                r#"{"hooks": {"Stop": [{"hooks": ["mine"]}, 1]}}"#,
            ),
            (r#"{"hooks": {"Stop": [{"hooks": ["ours"]}, 1]}}"#, r#"{"hooks": {"Stop": [1]}}"#),
        ] {
            assert_eq!(without(text, &PATH, "hooks", &is_ours).unwrap().unwrap(), rest);
        }
        let other = r#"{"hooks": {"Stop": [{"matcher": "ours", "hooks": ["mine"]}]}}"#;
        assert_eq!(without(other, &PATH, "hooks", &is_ours).unwrap(), None);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for bad in ["[]", "{", "{\"a\"}", "{\"hooks\": 3}", "{\"hooks\": {\"Stop\": {}}}", "{a: 1}"]
        {
            assert!(with(bad, &PATH, "1").is_err(), "{bad}");
        }
        assert!(with(&format!("{{\"a\": {}", "[".repeat(5000)), &PATH, "1").is_err());
    }
}

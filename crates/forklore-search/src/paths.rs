//! Finds the paths that the arguments of tool calls name.

use forklore_core::Data;
use serde_json::Value;

/// The maximum length of a path, in bytes.
const LONGEST: usize = 4_096;
/// The maximum number of paths that are recorded for one call.
const MOST: usize = 256;
/// The maximum nesting depth of arguments that are searched for paths.
const DEEPEST: usize = 8;
/// Parts of argument names. If the name of an argument contains one of these, its text counts as a
/// path, whatever the text looks like.
const KEYS: [&str; 4] = ["path", "file", "notebook", "folder"];
/// The beginnings of the lines that name a file in a patch.
const PATCH: [&str; 4] =
    ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// Returns the paths that the arguments of a tool call contain, exactly as written there.
pub(crate) fn named(arguments: &Data) -> Vec<String> {
    let mut found = Vec::new();
    let arguments = arguments.readable();
    match arguments.read::<Value>() {
        // Some agents write the arguments as a string of JSON, or as the text of a patch.
        Ok(Value::String(text)) => match serde_json::from_str::<Value>(&text) {
            Ok(value) => in_value("", &value, 0, &mut found),
            Err(_) => in_text("", &text, &mut found),
        },
        Ok(value) => in_value("", &value, 0, &mut found),
        Err(_) => {}
    }
    found
}

fn in_value(key: &str, value: &Value, depth: usize, found: &mut Vec<String>) {
    if found.len() >= MOST || depth > DEEPEST {
        return;
    }
    match value {
        Value::String(text) => in_text(key, text, found),
        Value::Array(values) => {
            values.iter().for_each(|value| in_value(key, value, depth + 1, found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| in_value(key, value, depth + 1, found));
        }
        _ => {}
    }
}

fn in_text(key: &str, text: &str, found: &mut Vec<String>) {
    if text.contains("*** ") {
        let lines = text.lines().map(str::trim);
        let named =
            lines.filter_map(|line| PATCH.iter().find_map(|begin| line.strip_prefix(begin)));
        let named = named.filter(|path| !path.is_empty() && path.len() <= LONGEST);
        found.extend(named.map(str::to_owned).take(MOST));
    } else if is_path(key, text) {
        found.push(text.to_owned());
    }
}

fn is_path(key: &str, text: &str) -> bool {
    let key = key.to_lowercase();
    let is_named = KEYS.iter().any(|word| key.contains(word));
    let looks_so = text.contains(['/', '.']) && !text.contains(char::is_whitespace);
    let is_line = !text.is_empty() && text.len() <= LONGEST && !text.contains(['\n', '\0']);
    is_line && (is_named || looks_so) && !text.contains("://")
}

/// Returns the absolute form of `path`, which may be relative to `workspace`. Removes each
/// component `.`, and each `..` together with the component before it.
pub(crate) fn absolute(workspace: &str, path: &str) -> String {
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{workspace}/{path}") };
    let mut parts = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_of_every_agent_name_their_files() {
        for (arguments, expected) in [
            (
                r#"{"file_path":"/w/a b.rs","old_string":"x y","new_string":"z"}"#,
                &["/w/a b.rs"][..],
            ),
            (r#"{"path":"Makefile"}"#, &["Makefile"]),
            (r#"{"command":["cat","src/a.rs"]}"#, &["src/a.rs"]),
            (r#"{"command":"ls -la src/a.rs"}"#, &[]),
            (r#"{"url":"https://a.example/b.rs"}"#, &[]),
            (r#""{\"filePath\":\"a.rs\"}""#, &["a.rs"]),
            (
                r#"{"input":"*** Begin Patch\n*** Update File: a b.rs\n@@\n-x\n*** Move to: c.rs\n"}"#,
                &["a b.rs", "c.rs"],
            ),
            (r#""*** Begin Patch\n*** Add File: n.rs\n+x""#, &["n.rs"]),
            ("7", &[]),
        ] {
            assert_eq!(named(&Data::parse(arguments).unwrap()), expected, "{arguments}");
        }
    }

    #[test]
    fn paths_are_compared_as_absolute_ones() {
        assert_eq!(absolute("/w", "./src/../a.rs"), "/w/a.rs");
        assert_eq!(absolute("/w", "/x//a.rs"), "/x/a.rs");
        assert_eq!(absolute("/w", "../../.."), "/");
    }
}

//! The setting `notify` of Codex: the program that it calls at the end of a turn.

use toml_edit::{Array, DocumentMut, Item};

const KEY: &str = "notify";

/// Returns the text with the setting, as its first line.
///
/// # Errors
/// If the text is not TOML, or another program is notified: Codex notifies one.
pub(super) fn with(text: &str, words: &[String]) -> Result<String, String> {
    let rest = without(text)?.unwrap_or_else(|| text.to_owned());
    if let Some(other) = parsed(&rest)?.get(KEY) {
        let other = other.to_string();
        return Err(format!(
            "codex notifies one program, and that is {}; forklore import --watch --files records \
             the files without a hook",
            other.trim()
        ));
    }
    let words: Array = words.iter().map(String::as_str).collect();
    Ok(format!("{KEY} = {words}\n{rest}"))
}

/// Returns the text without the setting, or `None` if it names no program of forklore.
pub(super) fn without(text: &str) -> Result<Option<String>, String> {
    let mut document = parsed(text)?;
    if !document.get(KEY).is_some_and(is_ours) {
        return Ok(None);
    }
    let first = text.split_once('\n').filter(|(line, _)| line.starts_with("notify = ["));
    if let Some((_, rest)) = first
        && !parsed(rest)?.contains_key(KEY)
    {
        return Ok(Some(rest.to_owned()));
    }
    document.remove(KEY);
    Ok(Some(document.to_string()))
}

fn parsed(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| format!("it is no TOML: {error}"))
}

fn is_ours(item: &Item) -> bool {
    let words = item.as_array().into_iter().flatten();
    let words: Vec<_> = words.filter_map(|word| word.as_str()).collect();
    words.ends_with(&["snapshot", "--hook", "codex"])
}

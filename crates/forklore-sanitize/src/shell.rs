//! Quotes words for a command line.

/// Quotes a word so that a POSIX shell reads it as exactly that one word.
#[must_use]
pub fn quoted(word: &str) -> String {
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.:/=,@".contains(c)
}

//! Quotes the arguments of a command line.

/// Quotes `word` so that a POSIX shell reads it as one argument with exactly this value.
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

//! Words of a command line, as they are typed.

/// A word as a POSIX shell takes it for that word and nothing else.
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

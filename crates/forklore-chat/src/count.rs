//! Formats counts in sentences.

/// Formats a count with its noun. The plural adds an `s`: `1 turn`, `2 turns`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

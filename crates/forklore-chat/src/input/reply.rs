//! The answers to the question whether a tool may be called.

/// The user's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Yes,
    No,
    /// Yes, and without further questions until the program ends.
    Always,
}

impl Reply {
    /// Parses an answer. Returns `None` for any other word.
    pub(crate) fn of(word: &str) -> Option<Self> {
        match word.trim().to_lowercase().as_str() {
            "y" | "yes" => Some(Self::Yes),
            "n" | "no" => Some(Self::No),
            "a" | "always" => Some(Self::Always),
            _ => None,
        }
    }
}

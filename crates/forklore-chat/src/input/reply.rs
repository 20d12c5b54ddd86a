//! The answers to a question about a tool call.

/// What a person answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Yes,
    No,
    /// Yes, and without asking until the program ends.
    Always,
}

impl Reply {
    /// The answer that a word means. Any other word was meant for something else.
    pub(crate) fn of(word: &str) -> Option<Self> {
        match word.trim().to_lowercase().as_str() {
            "y" | "yes" => Some(Self::Yes),
            "n" | "no" => Some(Self::No),
            "a" | "always" => Some(Self::Always),
            _ => None,
        }
    }
}

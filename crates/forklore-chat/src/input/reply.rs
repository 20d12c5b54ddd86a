//! The answers to the question whether a tool may be called.

/// The user's answer to the question whether a tool may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Yes,
    No,
    /// Yes to this call and to all later calls of the same tool. The later calls run without a
    /// question until the program ends.
    Always,
}

impl Reply {
    /// Parses the user's answer to the question whether a tool may be called. Returns `None` if the
    /// answer is not valid.
    pub(crate) fn of(word: &str) -> Option<Self> {
        match word.trim().to_lowercase().as_str() {
            "y" | "yes" => Some(Self::Yes),
            "n" | "no" => Some(Self::No),
            "a" | "always" => Some(Self::Always),
            _ => None,
        }
    }
}

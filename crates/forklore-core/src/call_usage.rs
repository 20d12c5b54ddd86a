//! The usage of single model calls, as stored records report it.

use crate::usage::Usage;

/// The usage of one model call, as a record reports it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallUsage {
    /// The provider's or the agent's id of the call. Several records may report one call, and
    /// copies of a record report the same one: of all records with one id, only the last one
    /// counts.
    pub call: Option<String>,
    /// The model called.
    pub model: Option<String>,
    /// The tokens and cost. `input` includes the tokens of `cached`.
    pub usage: Usage,
}

impl CallUsage {
    /// Returns `self`, or `None` if it reports no usage.
    #[must_use]
    pub fn some(self) -> Option<Self> {
        (self.usage != Usage::default()).then_some(self)
    }
}

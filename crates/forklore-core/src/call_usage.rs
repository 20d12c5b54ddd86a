//! What calls of models cost, as stored records tell it.

use crate::usage::Usage;

/// What one call of a model cost, as a record tells it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallUsage {
    /// The provider's or the agent's id of the call. Several records may tell of one call, and
    /// copies of a record tell of the same: of those with one id only the last word counts.
    pub call: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The cost. `input` has the tokens of `cached` in it.
    pub usage: Usage,
}

impl CallUsage {
    /// The same, if it tells of anything.
    #[must_use]
    pub fn some(self) -> Option<Self> {
        (self.usage != Usage::default()).then_some(self)
    }
}

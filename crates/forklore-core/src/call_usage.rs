//! The usage of single model calls, as stored records report it.

use crate::usage::Usage;

/// The usage of one model call, as a record reports it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallUsage {
    /// The id of the call, from the provider or the agent. Several records may report the same
    /// call, and a copied record repeats its id. Of all records with the same id, only the last one
    /// counts. `None` if the record states no id.
    pub call: Option<String>,
    /// The name of the model that was called, if the record states it.
    pub model: Option<String>,
    /// The tokens and cost of the call. `input` includes the `cached` tokens.
    pub usage: Usage,
}

impl CallUsage {
    /// Returns `self`, or `None` if all numbers of its usage are 0.
    #[must_use]
    pub fn some(self) -> Option<Self> {
        (self.usage != Usage::default()).then_some(self)
    }
}

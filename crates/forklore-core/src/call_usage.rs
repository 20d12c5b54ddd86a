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
    /// How many of the input tokens the provider wrote to its cache; 0 if the record does not state
    /// it.
    pub cache_written: u64,
    /// Whether the record states that the call cost nothing. A cost of 0 in `usage` alone states no
    /// cost.
    pub is_free: bool,
}

impl CallUsage {
    /// Checks whether the record states the cost of the call.
    #[must_use]
    pub fn states_cost(&self) -> bool {
        self.usage.cost > 0.0 || self.is_free
    }

    /// Returns `self`, or `None` if all numbers of its usage are 0.
    #[must_use]
    pub fn some(self) -> Option<Self> {
        (self.usage != Usage::default()).then_some(self)
    }
}

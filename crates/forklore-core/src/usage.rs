//! What model calls consumed: tokens and cost.

use serde::{Deserialize, Serialize};

/// What one or more model calls consumed: the sum of their `provider_usage` events
/// (docs/semantics.md, Turns and models).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage {
    /// The number of tokens sent to the model.
    pub input: u64,
    /// The number of tokens received from the model.
    pub output: u64,
    /// The number of input tokens that the provider read from its cache.
    pub cached: u64,
    /// The cost of the model calls, in the currency in which the `provider_usage` events state it.
    pub cost: f64,
}

impl Usage {
    /// Returns the sum of input and output tokens. The addition saturates, because a record may
    /// report any number.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.cost += other.cost;
    }
}

//! The usage of model calls: tokens and cost.

use serde::{Deserialize, Serialize};

/// The usage of model calls: the sum of `provider_usage` events (docs/semantics.md, Turns and
/// models).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage {
    /// Tokens sent.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
    /// Tokens of the input that the provider had cached.
    pub cached: u64,
    /// Money, in the currency of the events.
    pub cost: f64,
}

impl Usage {
    /// Returns the sum of input and output tokens. It saturates, because records may report any
    /// number.
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

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
        self.cost = without_noise(self.cost + other.cost);
    }
}

/// Removes the noise of binary fractions from computed money: 0.00006, not 0.00006000000000000001.
/// No price has more than twelve decimal places.
#[must_use]
pub fn without_noise(cost: f64) -> f64 {
    const DECIMALS: f64 = 1e12;
    let rounded = (cost * DECIMALS).round() / DECIMALS;
    if rounded.is_finite() { rounded } else { cost }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_prices_are_as_people_write_them() {
        let sum = |cost: f64, times: usize| {
            let mut sum = Usage::default();
            (0..times).for_each(|_| sum += Usage { cost, ..Usage::default() });
            sum.cost
        };
        assert_eq!([sum(0.00002, 3), sum(0.1, 3)], [0.00006, 0.3]);
        assert_eq!([sum(1e300, 2), sum(f64::MAX, 1)], [2e300, f64::MAX]);
    }
}

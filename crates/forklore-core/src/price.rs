//! Prices of models, and the costs that follow from them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::call_usage::CallUsage;
use crate::usage::without_noise;

/// Prices per million tokens, in a currency that the user chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// The price of input tokens.
    #[serde(deserialize_with = "price")]
    pub input: f64,
    /// The price of output tokens.
    #[serde(deserialize_with = "price")]
    pub output: f64,
    /// The price of input tokens that were read from the provider's cache. `None` means the price
    /// of `input`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional")]
    pub cached: Option<f64>,
    /// The price of input tokens that were written to the provider's cache. `None` means the price
    /// of `input`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional")]
    pub cache_written: Option<f64>,
}

impl Prices {
    /// Returns the cost of a model call with these numbers of tokens, without the noise of binary
    /// fractions. The provider read `cached` tokens from its cache and wrote `written` tokens to
    /// it. `input` includes both.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "no request has 2^53 tokens")]
    pub fn cost(&self, input: u64, output: u64, cached: u64, written: u64) -> f64 {
        let cached = cached.min(input);
        let written = written.min(input - cached);
        let plain = input - cached - written;
        let millions = |tokens: u64| tokens as f64 / 1e6;
        without_noise(
            millions(plain) * self.input
                + millions(cached) * self.cached.unwrap_or(self.input)
                + millions(written) * self.cache_written.unwrap_or(self.input)
                + millions(output) * self.output,
        )
    }
}

fn price<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let price = f64::deserialize(deserializer)?;
    if price.is_finite() && price >= 0.0 {
        // A negative zero would be shown as such.
        return Ok(price.abs());
    }
    Err(serde::de::Error::custom(NotAPrice))
}

fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    price(deserializer).map(Some)
}

/// The error for a number that is no price: it is negative, infinite or not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a price is a number from 0 on, such as 0.25: not negative, not infinite, not NaN")]
pub struct NotAPrice;

/// A currency, such as `USD`. The default is `USD`, in which agents record costs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String")]
pub struct Currency(String);

/// The error for a text that is no [`Currency`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a currency is 1 to 8 letters, such as USD or EUR")]
pub struct NotACurrency;

impl Currency {
    /// Returns the name of the currency.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks whether this is the currency of the costs that agents record.
    #[must_use]
    pub fn is_of_agents(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Currency {
    fn default() -> Self {
        Self("USD".to_owned())
    }
}

impl TryFrom<String> for Currency {
    type Error = NotACurrency;

    fn try_from(text: String) -> Result<Self, NotACurrency> {
        let is_one = (1..=8).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphabetic());
        if is_one { Ok(Self(text)) } else { Err(NotACurrency) }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The prices of models by their names, in one currency. A name may be a pattern, in which `*`
/// matches any text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriceTable {
    /// The currency of the prices.
    pub currency: Currency,
    /// The prices, by the name or pattern of the models.
    pub prices: BTreeMap<String, Prices>,
}

impl PriceTable {
    /// Returns the prices of a model. An exact name takes precedence over a pattern, and a longer
    /// pattern over a shorter one. `None` if no name and no pattern of the table fits the model.
    #[must_use]
    pub fn of(&self, model: &str) -> Option<&Prices> {
        self.prices.get(model).or_else(|| {
            let patterns = self.prices.iter().filter(|(name, _)| name.contains('*'));
            let fitting = patterns.filter(|(pattern, _)| fits(pattern, model));
            fitting.max_by_key(|(pattern, _)| pattern.len()).map(|(_, prices)| prices)
        })
    }

    /// Returns the cost of a model call: the cost that its record states, or else the cost that
    /// follows from the prices of the model. `None` if the record states no cost and the table has
    /// no prices for the model. `by_agent` says whether another agent wrote the record. Agents
    /// state costs in US dollars, so such a cost counts only if US dollars are the currency of the
    /// table.
    #[must_use]
    pub fn cost(&self, call: &CallUsage, by_agent: bool) -> Option<f64> {
        let usage = &call.usage;
        if call.states_cost() && (!by_agent || self.currency.is_of_agents()) {
            return Some(usage.cost);
        }
        let prices = self.of(call.model.as_deref()?)?;
        Some(prices.cost(usage.input, usage.output, usage.cached, call.cache_written))
    }
}

/// Checks whether a pattern, in which `*` matches any text, matches the whole text.
#[must_use]
pub fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        // Use the first occurrence of the part, which leaves the most text for the next parts.
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Usage;

    fn at(input: f64) -> Prices {
        Prices { input, output: 2.0 * input, ..Prices::default() }
    }

    fn table(prices: &[(&str, Prices)]) -> PriceTable {
        let prices = prices.iter().map(|(name, prices)| ((*name).to_owned(), *prices)).collect();
        PriceTable { prices, ..PriceTable::default() }
    }

    #[test]
    fn an_exact_name_comes_before_the_longest_pattern() {
        let table = table(&[
            ("*", at(1.0)),
            ("claude-*", at(2.0)),
            ("claude-*-4", at(3.0)),
            ("claude-opus-4", at(4.0)),
        ]);
        let input = |model: &str| table.of(model).map(|prices| prices.input);
        let models = ["gpt", "claude-x", "claude-sonnet-4", "claude-opus-4"];
        assert_eq!(models.map(input), [1.0, 2.0, 3.0, 4.0].map(Some));
        assert_eq!(self::table(&[("claude-*", at(1.0))]).of("gpt"), None);
    }

    #[test]
    fn cached_tokens_are_a_part_of_the_input() {
        let prices = Prices { cached: Some(0.1), cache_written: Some(1.25), ..at(1.0) };
        assert_eq!(prices.cost(1_000_000, 500_000, 600_000, 300_000), 1.535);
        assert_eq!(at(1.0).cost(1_000_000, 0, u64::MAX, u64::MAX), 1.0);
    }

    #[test]
    fn a_cost_that_is_recorded_comes_before_a_price() {
        let usage = Usage { input: 1_000_000, cost: 7.0, ..Usage::default() };
        let call = CallUsage { model: Some("m".into()), usage, ..CallUsage::default() };
        let nothing = PriceTable::default();
        assert_eq!([nothing.cost(&call, true), nothing.cost(&call, false)], [Some(7.0); 2]);
        let euros = PriceTable {
            currency: "EUR".to_owned().try_into().unwrap(),
            ..table(&[("m", at(1.0))])
        };
        assert_eq!([euros.cost(&call, true), euros.cost(&call, false)], [Some(1.0), Some(7.0)]);
        let unstated = CallUsage { usage: Usage { cost: 0.0, ..usage }, ..call.clone() };
        assert_eq!([nothing.cost(&unstated, true), euros.cost(&unstated, true)], [None, Some(1.0)]);
        let free = CallUsage { is_free: true, ..unstated };
        assert_eq!([nothing.cost(&free, false), euros.cost(&free, false)], [Some(0.0); 2]);
    }

    #[test]
    fn what_is_no_price_or_currency_is_refused() {
        for wrong in ["-1", "-0.001", "1e999", "\"1\"", "null"] {
            let text = format!("{{\"input\":{wrong},\"output\":1}}");
            assert!(serde_json::from_str::<Prices>(&text).is_err(), "{wrong}");
        }
        for wrong in ["", "US dollars", "\u{20ac}", "\u{1b}[31m"] {
            assert_eq!(Currency::try_from(wrong.to_owned()), Err(NotACurrency), "{wrong}");
        }
    }
}

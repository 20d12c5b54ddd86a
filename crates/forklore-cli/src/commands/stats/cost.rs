//! Formats costs, of which a part may not be known.

use std::fmt;

use forklore::core::{Currency, Usage};

/// The smallest cost that is shown as a number.
const SMALLEST: f64 = 0.0001;

/// The cost of some usage, with the number of tokens whose cost is not known.
pub(super) struct Cost<'a> {
    pub(super) usage: &'a Usage,
    pub(super) unpriced_tokens: u64,
    pub(super) currency: &'a Currency,
}

impl Cost<'_> {
    /// Returns the cost in words, for a line of its own.
    pub(super) fn sentence(&self) -> String {
        let shown = self.to_string();
        match shown.strip_prefix(">= ") {
            Some(amount) => format!("at least {amount}"),
            None if shown == NO_PRICE => "not known".to_owned(),
            None => shown,
        }
    }
}

/// The text in place of a cost if nothing of the usage has a price.
const NO_PRICE: &str = "no price";

impl fmt::Display for Cost<'_> {
    /// Writes the cost with its currency. Writes nothing if there is no usage.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { usage, unpriced_tokens, currency } = self;
        let cost = usage.cost;
        if *unpriced_tokens > 0 {
            // Round down, because the cost is at least this.
            let least = ((cost + 1e-9) / SMALLEST).floor() * SMALLEST;
            return match cost <= 0.0 && *unpriced_tokens >= usage.tokens() {
                true => f.write_str(NO_PRICE),
                false => write!(f, ">= {} {currency}", amount(least)),
            };
        }
        if cost > 0.0 && cost < SMALLEST {
            write!(f, "< {SMALLEST} {currency}")
        } else if cost > 0.0 || usage.tokens() > 0 {
            write!(f, "{} {currency}", amount(cost))
        } else {
            Ok(())
        }
    }
}

/// Formats an amount of money with two to four decimal places.
fn amount(cost: f64) -> String {
    let text = format!("{cost:.4}");
    let short = text.trim_end_matches('0');
    let decimals = short.len() - short.find('.').map_or(short.len(), |at| at + 1);
    if decimals >= 2 { short.to_owned() } else { format!("{cost:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(input: u64, cost: f64, unpriced_tokens: u64) -> (String, String) {
        let usage = Usage { input, cost, ..Usage::default() };
        let currency = Currency::default();
        let cost = Cost { usage: &usage, unpriced_tokens, currency: &currency };
        (cost.to_string(), cost.sentence())
    }

    #[test]
    fn a_part_is_never_shown_as_the_whole() {
        let same = |text: &str| (text.to_owned(), text.to_owned());
        assert_eq!(shown(0, 0.0, 0), same(""));
        assert_eq!(shown(10, 0.0, 0), same("0.00 USD"));
        assert_eq!(shown(10, 0.25, 0), same("0.25 USD"));
        assert_eq!(shown(10, 1234.5, 0), same("1234.50 USD"));
        assert_eq!(shown(10, 0.0123, 0), same("0.0123 USD"));
        assert_eq!(shown(10, 0.00002, 0), same("< 0.0001 USD"));
        assert_eq!(shown(10, 0.00709, 4).0, ">= 0.007 USD");
        assert_eq!(shown(10, 0.00002, 4).0, ">= 0.00 USD");
        let part = (">= 0.007 USD".to_owned(), "at least 0.007 USD".to_owned());
        assert_eq!(shown(10, 0.007, 4), part);
        assert_eq!(shown(10, 0.0, 10).0, "no price");
        assert_eq!(shown(10, 0.0, 10).1, "not known");
        assert_eq!(shown(10, 0.0, 4).0, ">= 0.00 USD");
    }
}

//! The budgets that the user configures.

use serde::{Deserialize, Deserializer};

use super::{ConfigError, Configured};

/// The limits on what models may use, from the user's configuration. `None` is no limit.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// How much the models of all sessions may cost in one day, in the configured currency.
    #[serde(deserialize_with = "amount")]
    pub per_day: Option<f64>,
    /// How much a session may cost with its sub-agents, in the configured currency.
    #[serde(deserialize_with = "amount")]
    pub per_session: Option<f64>,
    /// How many tokens the models of all sessions may use in one day, input and output together.
    pub tokens_per_day: Option<u64>,
    /// How many tokens a session may use with its sub-agents, input and output together.
    pub tokens_per_session: Option<u64>,
}

impl Budget {
    fn is_in_money(&self) -> bool {
        self.per_day.is_some() || self.per_session.is_some()
    }
}

fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let amount = f64::deserialize(deserializer)?;
    if is_amount(amount) {
        return Ok(Some(amount));
    }
    Err(serde::de::Error::custom("a budget is a number above 0, such as 2.5"))
}

/// Checks whether a number can be a budget: it is above 0 and finite.
#[must_use]
pub fn is_amount(number: f64) -> bool {
    number.is_finite() && number > 0.0
}

impl Configured {
    /// Checks that budgets in money can be enforced for a model: the model must have a price if
    /// there is such a budget. `max_cost` says whether this run has a budget in money in addition
    /// to the configured budgets. A `model` of `None` is the default model.
    ///
    /// # Errors
    /// Returns an error if there is a budget in money and the model has no price, or if the model
    /// is not configured.
    pub fn check_budget(&self, model: Option<&str>, max_cost: bool) -> Result<(), ConfigError> {
        let (name, model) = self.model(model)?;
        if !(max_cost || self.config.budget.is_in_money()) || self.config.price_of(model).is_some()
        {
            return Ok(());
        }
        let wrong = format!(
            "the model {name} has no price, so no budget in money can be held for it; add to \
             [models.{name}]: price = {{ input = 0.0, output = 0.0 }}, with its prices of a million \
             tokens"
        );
        Err(ConfigError::new(&self.path, wrong))
    }
}

//! A limit on what models may use, with what they have used so far.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use forklore_agent::model::TokenUsage;
use forklore_core::{Currency, Usage, without_noise};

/// A limit. Several models can share one limit.
pub(super) struct Limit {
    /// The name of the setting or option that sets the limit.
    name: &'static str,
    most: Most,
    used: Mutex<Used>,
}

/// How much a limit allows.
pub(super) enum Most {
    Cost(f64, Currency),
    Tokens(u64),
}

#[derive(Default)]
struct Used {
    cost: f64,
    tokens: u64,
    /// Whether a complete answer came without what the limit counts: its cost, or its number of
    /// tokens.
    is_unmeasured: bool,
}

impl Limit {
    pub(super) fn new(name: &'static str, most: Most) -> Self {
        Self { name, most, used: Mutex::default() }
    }

    /// Sets what was used so far.
    pub(super) fn set(&self, usage: &Usage) {
        let mut used = self.used();
        (used.cost, used.tokens) = (usage.cost, usage.tokens());
    }

    /// Adds the usage of a request. `cost` is the cost of the request, if it is known.
    /// `is_complete` says whether the answer is complete. If a complete answer has no usage, the
    /// limit refuses all further requests.
    pub(super) fn add(&self, usage: &TokenUsage, cost: Option<f64>, is_complete: bool) {
        let mut used = self.used();
        let is_measured = match self.most {
            Most::Cost(..) => cost.is_some(),
            Most::Tokens(_) => usage.input.is_some() && usage.output.is_some(),
        };
        used.is_unmeasured |= is_complete && !is_measured;
        used.cost = without_noise(used.cost + cost.unwrap_or(0.0));
        let tokens = usage.input.unwrap_or(0).saturating_add(usage.output.unwrap_or(0));
        used.tokens = used.tokens.saturating_add(tokens);
    }

    /// Returns why no further request may be sent, or `None` if one may.
    pub(super) fn refusal(&self) -> Option<String> {
        let (name, most, used) = (self.name, &self.most, self.used());
        if used.is_unmeasured {
            return Some(format!(
                "the server does not report tokens, so the budget {name} of {most} cannot be held"
            ));
        }
        let (is_over, amount) = match most {
            Most::Cost(cost, currency) => {
                (used.cost >= *cost, Most::Cost(used.cost, currency.clone()))
            }
            Most::Tokens(tokens) => (used.tokens >= *tokens, Most::Tokens(used.tokens)),
        };
        is_over.then(|| format!("the budget {name} of {most} is used up: {amount}"))
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for Most {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cost(cost, currency) => write!(f, "{} {currency}", without_noise(*cost)),
            Self::Tokens(tokens) => write!(f, "{tokens} tokens"),
        }
    }
}

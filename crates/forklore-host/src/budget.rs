//! Budgets: limits on the money or the tokens that the models of a program may use.
//!
//! A budget is checked before each request to a model. A running request is not stopped. So the
//! requests that run when a budget is used up can exceed the budget.

mod limit;
mod metered;

use std::sync::{Arc, Mutex, PoisonError};

use forklore_agent::SessionConfig;
use forklore_agent::approve::Approve;
use forklore_agent::model::Model;
use forklore_core::SessionId;
use forklore_engine::Engine;
use futures_util::future::{BoxFuture, FutureExt};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::config::{Budget, Configured};
use crate::{Host, Result, system_zone};
use limit::{Limit, Most};
use metered::Metered;

/// The budgets of a host.
#[derive(Default)]
pub(crate) struct Budgets {
    /// The budget of this run of the program. `None` is no limit.
    run: Option<Arc<Limit>>,
    /// The budgets of a day, which all sessions share.
    day: Vec<Arc<Limit>>,
    /// Why the last request was refused, if one was.
    refused: Arc<Mutex<Option<String>>>,
}

impl Budgets {
    /// Creates the budgets of a configuration.
    pub(crate) fn of(configured: &Configured) -> Self {
        let config = &configured.config;
        let money = config.budget.per_day.map(|most| Most::Cost(most, config.currency.clone()));
        let tokens = config.budget.tokens_per_day.map(Most::Tokens);
        let limits = [("budget.per_day", money), ("budget.tokens_per_day", tokens)];
        let day = limits.into_iter().filter_map(|(name, most)| Some(Limit::new(name, most?)));
        Self { run: None, day: day.map(Arc::new).collect(), refused: Arc::default() }
    }
}

impl Host {
    /// Limits what all models may cost in this run, in the configured currency. The requests of
    /// sub-agents, continuations and summaries count too. `None` is no limit. Once the budget is
    /// used up, no further request is sent: turns end as incomplete.
    #[must_use]
    pub fn limiting(mut self, max_cost: Option<f64>) -> Self {
        let most = |cost| Most::Cost(cost, self.configured().config.currency.clone());
        self.budgets.run = max_cost.map(|cost| Arc::new(Limit::new("--max-cost", most(cost))));
        self
    }

    /// Checks whether there is any budget.
    pub(crate) fn has_budgets(&self) -> bool {
        self.budgets.run.is_some() || self.configured().config.budget != Budget::default()
    }

    /// Returns why a budget refused the last refused request to a model. Returns `None` if no
    /// budget has refused a request.
    #[must_use]
    pub fn budget_refusal(&self) -> Option<String> {
        self.budgets.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Checks that the budgets of this host can be enforced for a model.
    ///
    /// # Errors
    /// The errors of [`Configured::check_budget`].
    pub(crate) fn check_budget(&self, model: &str) -> Result<()> {
        Ok(self.configured().check_budget(Some(model), self.budgets.run.is_some())?)
    }

    /// Returns the equipment of a session in which the model with this name answers. The requests
    /// of that model count against the budgets. `session` is `None` if the session is not stored
    /// yet.
    ///
    /// # Errors
    /// The errors of [`equipment`](Self::equipment); an error if a budget cannot be enforced for
    /// the model.
    pub(crate) fn budgeted<'a>(
        &'a self,
        model: &'a str,
        approve: Arc<dyn Approve>,
        session: Option<&'a SessionId>,
    ) -> BoxFuture<'a, Result<SessionConfig>> {
        async move {
            let equipment = self.equipment(model, approve)?;
            if !self.has_budgets() {
                return Ok(equipment);
            }
            let metered = self.metered(model, equipment.model.clone(), session).await?;
            Ok(SessionConfig { model: metered, ..equipment })
        }
        .boxed()
    }

    /// Returns a model whose requests count against the budgets. First reads from the store what
    /// was used so far.
    ///
    /// # Errors
    /// An error if a budget cannot be enforced for the model, or if the store cannot be read.
    async fn metered(
        &self,
        name: &str,
        model: Arc<dyn Model>,
        session: Option<&SessionId>,
    ) -> Result<Arc<dyn Model>> {
        self.check_budget(name)?;
        let of_session = self.limits_of(session).await?;
        self.count_day().await?;
        let shared = self.budgets.run.iter().chain(&self.budgets.day).cloned();
        let limits: Vec<_> = shared.chain(of_session).collect();
        let config = &self.configured().config;
        let prices = config.models.get(name).and_then(|model| config.price_of(model));
        Ok(Arc::new(Metered { model, prices, limits, refused: self.budgets.refused.clone() }))
    }

    /// Returns the budgets of a session, with what the session and its sub-agents have used.
    async fn limits_of(&self, session: Option<&SessionId>) -> Result<Vec<Arc<Limit>>> {
        let config = &self.configured().config;
        let money = config.budget.per_session.map(|most| Most::Cost(most, config.currency.clone()));
        let tokens = config.budget.tokens_per_session.map(Most::Tokens);
        let limits = [("budget.per_session", money), ("budget.tokens_per_session", tokens)];
        let limits = limits.into_iter().filter_map(|(name, most)| Some(Limit::new(name, most?)));
        let limits: Vec<_> = limits.map(Arc::new).collect();
        if let Some(session) = session.filter(|_| !limits.is_empty()) {
            let session = session.clone();
            let usage = self.run(move |engine| engine.usage_with_subagents(&session)).await?;
            limits.iter().for_each(|limit| limit.set(&usage));
        }
        Ok(limits)
    }

    /// Reads from the store what all sessions used today, and sets the budgets of the day to that
    /// usage.
    async fn count_day(&self) -> Result<()> {
        if self.budgets.day.is_empty() {
            return Ok(());
        }
        let usage = self.run(|engine: &Engine| engine.usage_since(midnight())).await?;
        self.budgets.day.iter().for_each(|limit| limit.set(&usage));
        Ok(())
    }
}

/// Returns the beginning of this day in the time zone of the system.
fn midnight() -> Timestamp {
    let now = Timestamp::now().to_zoned(system_zone().unwrap_or(TimeZone::UTC));
    now.start_of_day().map_or(now.timestamp(), |day| day.timestamp())
}

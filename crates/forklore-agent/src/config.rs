//! What a session works with: all of it the application's.

use std::sync::Arc;
use std::time::Duration;

use forklore_engine::{Engine, ModelView};
use serde::{Deserialize, Serialize};

use crate::approve::{AllowAll, Approve, Nobody, Policy};
use crate::cache_key::cache_key;
use crate::delegation::Delegation;
use crate::media::Attached;
use crate::model::{Model, Options, Request, TokenUsage};
use crate::tool::{NoTools, ToolSpec, Tools};

/// What a session works with. A child that the kernel makes gets its parent's.
#[derive(Clone)]
pub struct SessionConfig {
    /// What answers.
    pub model: Arc<dyn Model>,
    /// What it can call.
    pub tools: Arc<dyn Tools>,
    /// What the user's configuration says about calls.
    pub policy: Arc<dyn Policy>,
    /// Who is asked.
    pub approve: Arc<dyn Approve>,
    /// Whether the model can hand work to sub-agents, and how.
    pub delegation: Option<Arc<dyn Delegation>>,
    /// Instructions, written as the first message of a session that is empty.
    pub system: Option<String>,
    /// Numbers.
    pub settings: Settings,
}

impl SessionConfig {
    /// The request that the next call of the model would send for a session as it is now, without
    /// the next prompt and without what hooks add.
    #[must_use]
    pub fn request(&self, engine: &Engine, view: ModelView) -> Request {
        let ModelView { header, messages, shared, forks, .. } = view;
        let attached = Attached::read(engine, &messages, &self.model.takes());
        let cache_key = cache_key(&header.root_id);
        let options = self.settings.options.clone();
        Request { messages, attached, shared, forks, tools: self.specs(), cache_key, options }
    }

    /// Every tool that the model sees.
    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        let mut specs = self.tools.specs();
        specs.extend(self.delegation.as_ref().map(|delegation| delegation.spec()));
        specs
    }

    /// A model and nothing to call.
    #[must_use]
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self {
            model,
            tools: Arc::new(NoTools),
            policy: Arc::new(AllowAll),
            approve: Arc::new(Nobody),
            delegation: None,
            system: None,
            settings: Settings::default(),
        }
    }
}

/// The numbers of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How answers are to be.
    pub options: Options,
    /// What the model costs; none leaves `cost` out of the records.
    pub prices: Option<Prices>,
    /// What one turn may take.
    pub budget: Budget,
    /// How often a request is tried before the turn fails.
    pub attempts: u32,
    /// The pause before the second attempt; each further one is twice as long, with some chance.
    pub backoff: Duration,
    /// The longest pause. Where a provider asks for a longer one, the turn fails at once.
    pub longest_backoff: Duration,
    /// How long calls that are cancelled may take to end.
    pub grace: Duration,
    /// The most bytes of one result that the model gets.
    pub result_bytes: usize,
    /// How long a hook may take.
    pub hook_patience: Duration,
    /// After how many rounds of calls in a row that all failed in the same way a turn ends; none
    /// leaves that to the budget.
    pub stuck_rounds: Option<u32>,
    /// How full the context may be before the history is compacted, 0 to 1; none never compacts
    /// by itself.
    pub compact_at: Option<f64>,
    /// How long a turn waits for a session that another runtime holds. It can be interrupted
    /// meanwhile.
    pub lease_wait: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            options: Options::default(),
            prices: None,
            budget: Budget::default(),
            attempts: 5,
            backoff: Duration::from_millis(500),
            longest_backoff: Duration::from_secs(60),
            grace: Duration::from_secs(2),
            result_bytes: 256 << 10,
            hook_patience: Duration::from_secs(10),
            stuck_rounds: Some(5),
            compact_at: Some(0.8),
            lease_wait: Duration::ZERO,
        }
    }
}

/// What one turn may take; none is no limit. It is looked at before each call of the model; when
/// the time is over, what runs is interrupted.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// Calls of the model.
    pub model_calls: Option<u32>,
    /// Tokens, in and out.
    pub tokens: Option<u64>,
    /// Money, in the unit of the prices.
    pub cost: Option<f64>,
    /// Time.
    pub time: Option<Duration>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { model_calls: Some(200), tokens: None, cost: None, time: None }
    }
}

/// What a million tokens cost, in a currency that the user knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Of the request.
    pub input: f64,
    /// Of the answer.
    pub output: f64,
    /// Of the request, read from a cache; none is as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Of the request, written to a cache; none is as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_written: Option<f64>,
}

impl Prices {
    /// What a call cost; none where the provider does not say what it took.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "no request has 2^53 tokens")]
    pub fn cost(&self, usage: &TokenUsage) -> Option<f64> {
        let (input, output) = (usage.input?, usage.output?);
        let cached = usage.cached.unwrap_or(0).min(input);
        let written = usage.cache_written.unwrap_or(0).min(input - cached);
        let plain = input - cached - written;
        let millions = |tokens: u64| tokens as f64 / 1e6;
        Some(
            millions(plain) * self.input
                + millions(cached) * self.cached.unwrap_or(self.input)
                + millions(written) * self.cache_written.unwrap_or(self.input)
                + millions(output) * self.output,
        )
    }
}

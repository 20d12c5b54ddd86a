//! The configuration of a running session. The application may choose every value.

use std::sync::Arc;
use std::time::Duration;

use forklore_core::Prices;
use forklore_engine::{Engine, ModelView};

use crate::approve::{AllowAll, Approve, Nobody, Policy};
use crate::cache_key::cache_key;
use crate::delegation::Delegation;
use crate::evidence::Evidence;
use crate::media::Attached;
use crate::model::{Model, Options, Request};
use crate::tool::{NoTools, ToolSpec, Tools};

/// The model, tools, policies and settings of a session. A child session that the kernel creates
/// inherits them from its parent.
#[derive(Clone)]
pub struct SessionConfig {
    /// The model that answers the session's requests.
    pub model: Arc<dyn Model>,
    /// The tools that the model can call.
    pub tools: Arc<dyn Tools>,
    /// The user's policy for tool calls.
    pub policy: Arc<dyn Policy>,
    /// Asks a person whether a tool call or another operation is allowed.
    pub approve: Arc<dyn Approve>,
    /// Lets the model delegate work to sub-agents. With `None`, the model cannot delegate.
    pub delegation: Option<Arc<dyn Delegation>>,
    /// The system instructions. They become the first message of an empty session. With `None`,
    /// there are no instructions.
    pub system: Option<String>,
    /// Records what surrounds each turn, such as the state of the files. Sub-agents do not have it.
    pub evidence: Option<Arc<dyn Evidence>>,
    /// Limits, timeouts and prices.
    pub settings: Settings,
}

impl SessionConfig {
    /// Returns the request that the next model call of a session would send, given the session's
    /// `view`. The next prompt and the additions of hooks are not included.
    #[must_use]
    pub fn request(&self, engine: &Engine, view: ModelView) -> Request {
        let ModelView { header, messages, shared, forks, .. } = view;
        let attached = Attached::read(engine, &messages, &self.model.takes());
        let cache_key = cache_key(&header.root_id);
        let options = self.settings.options.clone();
        Request { messages, attached, shared, forks, tools: self.specs(), cache_key, options }
    }

    /// Returns the specifications of all tools that the model sees, including the delegation tool.
    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        let mut specs = self.tools.specs();
        specs.extend(self.delegation.as_ref().map(|delegation| delegation.spec()));
        specs
    }

    /// Returns a configuration with this model, no tools and default settings.
    #[must_use]
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self {
            model,
            tools: Arc::new(NoTools),
            policy: Arc::new(AllowAll),
            approve: Arc::new(Nobody),
            delegation: None,
            system: None,
            evidence: None,
            settings: Settings::default(),
        }
    }
}

/// Limits, timeouts and prices of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The generation parameters of each request, such as the temperature.
    pub options: Options,
    /// The model's prices; `None` omits `cost` from the usage records.
    pub prices: Option<Prices>,
    /// The budget of one turn.
    pub budget: Budget,
    /// Maximum number of attempts for one model request. If the last attempt fails, the turn fails.
    pub attempts: u32,
    /// The pause before the second attempt of a model request, without jitter. Before each further
    /// attempt, this pause is doubled. The kernel adds random jitter to each pause.
    pub backoff: Duration,
    /// The longest pause between two attempts of a model request, before jitter is added. If the
    /// provider demands a longer pause, the turn fails at once.
    pub longest_backoff: Duration,
    /// How long a turn waits for cancelled tool calls to end.
    pub grace: Duration,
    /// Maximum length in bytes of one tool result that the model receives. A longer result is
    /// truncated.
    pub result_bytes: usize,
    /// How long a hook may take to decide about one operation. A slower hook is skipped.
    pub hook_patience: Duration,
    /// A turn ends after this number of consecutive answers in which all tool calls fail, each time
    /// in the same way. `None` sets no limit except the budget.
    pub stuck_rounds: Option<u32>,
    /// The fraction of the context window, from 0 to 1, at which the history is compacted. `None`
    /// compacts it only if the model refuses a request as too long.
    pub compact_at: Option<f64>,
    /// How long a turn waits if another runtime has leased the session. An interruption ends the
    /// wait.
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

/// The budget of one turn; `None` means no limit. The kernel checks the budget before each model
/// call. If the time runs out, the kernel interrupts the running work at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// Maximum number of model calls in the turn.
    pub model_calls: Option<u32>,
    /// Maximum number of tokens in the turn, input and output together.
    pub tokens: Option<u64>,
    /// Maximum cost of the turn, in the currency of the prices.
    pub cost: Option<f64>,
    /// Maximum duration of the turn.
    pub time: Option<Duration>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { model_calls: Some(200), tokens: None, cost: None, time: None }
    }
}

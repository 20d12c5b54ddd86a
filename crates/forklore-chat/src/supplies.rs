//! What the sessions of one run of the program share: the kernel, and what the configuration names.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forklore_agent::approve::{Approve, Policy};
use forklore_agent::media::Takes;
use forklore_agent::model::{Model, Options};
use forklore_agent::subagents::Subagents;
use forklore_agent::{Equipment, Kernel, Settings};
use forklore_engine::Engine;
use forklore_llm::{HttpModel, ModelConfig};
use forklore_mcp_client::{McpTools, Pattern, UserPolicy};
use forklore_otel::Spans;
use tokio::runtime::Runtime;

use crate::allowed::AllowedInRun;
use crate::config::Configured;
use crate::interrupts::Interrupts;
use crate::{Error, Result};

/// Makes a model from what the configuration says of it.
pub type MakeModel = dyn Fn(&ModelConfig) -> Result<Arc<dyn Model>> + Send + Sync;

/// What the sessions of one run share.
pub struct Supplies {
    configured: Configured,
    kernel: Kernel,
    tools: Arc<McpTools>,
    spans: Option<Arc<Spans>>,
    make: Box<MakeModel>,
    /// The tools that this run may call unasked.
    allowed: Vec<Pattern>,
    /// What listens to signals since the servers of tools were started, while nobody else does: so
    /// none is lost between one that waits and the next.
    interrupts: Mutex<Option<Interrupts>>,
    // Dropped last: what the others still do, they do on it.
    runtime: Runtime,
}

impl Supplies {
    /// A kernel over `engine`, and what `configured` names; no server of tools runs yet.
    ///
    /// # Errors
    /// When the configuration of a server makes no sense, or threads cannot be had.
    pub fn new(engine: Engine, configured: Configured) -> Result<Self> {
        Self::with_models(engine, configured, Box::new(over_http))
    }

    /// The same with models of another make.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_models(
        engine: Engine,
        configured: Configured,
        make: Box<MakeModel>,
    ) -> Result<Self> {
        let io = |source| Error::Io { doing: "starting threads".to_owned(), source };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(io)?;
        let tools = McpTools::new(&configured.config.tools)
            .map_err(|error| crate::ConfigError::new(&configured.path, error.to_string()))?;
        let spans = spans(&runtime, &configured)?;
        let kernel = Kernel::builder(engine).application("forklore chat");
        let kernel = spans.iter().fold(kernel, |kernel, spans| kernel.sink(spans.clone())).build();
        Ok(Self {
            configured,
            kernel,
            tools: Arc::new(tools),
            spans,
            make,
            allowed: Vec::new(),
            interrupts: Mutex::default(),
            runtime,
        })
    }

    /// The same, with tools that every session of this run may call without asking.
    ///
    /// What the configuration denies stays denied, and so does what lies above a session's
    /// ceiling.
    #[must_use]
    pub fn allowing(self, tools: Vec<Pattern>) -> Self {
        Self { allowed: tools, ..self }
    }

    /// What the user has set.
    #[must_use]
    pub fn configured(&self) -> &Configured {
        &self.configured
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Where turns run.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Starts the servers of tools; gives what is wrong with those that do not start.
    ///
    /// # Errors
    /// [`Error::Stopped`] when the program is to stop before all have started.
    pub fn start_tools(&self) -> Result<Vec<String>> {
        let mut interrupts = self.interrupts();
        let started = self.runtime.block_on(async {
            tokio::select! {
                started = self.tools.start() => Ok(started),
                stop = interrupts.next() => Err(Error::Stopped(stop)),
            }
        });
        self.keep(interrupts);
        Ok(started?.iter().map(ToString::to_string).collect())
    }

    /// The signals that nobody has heard yet.
    pub(crate) fn interrupts(&self) -> Interrupts {
        let listening = self.listening().take();
        listening.unwrap_or_else(|| Interrupts::listen(&self.runtime))
    }

    /// Goes on listening for whoever waits next.
    pub(crate) fn keep(&self, interrupts: Interrupts) {
        *self.listening() = Some(interrupts);
    }

    fn listening(&self) -> MutexGuard<'_, Option<Interrupts>> {
        self.interrupts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives back what sessions hold that were broken off, ends the servers of tools, and sends the
    /// spans that are left. Whoever asks to stop meanwhile need not wait for it.
    pub fn end(&self) {
        let mut interrupts = self.interrupts();
        let ending = async {
            self.kernel.settle().await;
            self.tools.end().await;
            // Whether a collector took them is no matter of the conversation.
            if let Some(spans) = &self.spans {
                spans.clone().end().await;
            }
        };
        self.runtime.block_on(async {
            tokio::select! {
                () = ending => {}
                _ = interrupts.next() => {}
            }
        });
    }

    /// What the model of this name takes along with a request; none is the default.
    ///
    /// # Errors
    /// When there is no such model, or it cannot be what its configuration says.
    pub fn takes(&self, model: Option<&str>) -> Result<Takes> {
        let (_, config) = self.configured.model(model)?;
        Ok((self.make)(config)?.takes())
    }

    /// What a session works with, answered by the model of this name.
    ///
    /// # Errors
    /// When there is no such model, or it cannot be what its configuration says.
    pub fn equipment(&self, model: &str, approve: Arc<dyn Approve>) -> Result<Equipment> {
        let (_, config) = self.configured.model(Some(model))?;
        let settings = Settings {
            options: Options {
                max_output_tokens: config.max_output_tokens,
                temperature: config.temperature,
                ..Options::default()
            },
            prices: config.price,
            ..Settings::default()
        };
        Ok(Equipment {
            tools: self.tools.clone(),
            policy: self.policy(),
            approve,
            delegation: self.configured.config.delegate.clone().and_then(Subagents::within),
            system: self.configured.config.system.clone(),
            settings,
            ..Equipment::new((self.make)(config)?)
        })
    }
}

impl Supplies {
    fn policy(&self) -> Arc<dyn Policy> {
        let rules = self.configured.config.policy.clone();
        let policy = UserPolicy::new(rules, self.tools.clone());
        Arc::new(AllowedInRun { policy, tools: self.allowed.clone() })
    }
}

/// The spans of what happens, where the configuration says where they go.
fn spans(runtime: &Runtime, configured: &Configured) -> Result<Option<Arc<Spans>>> {
    let Some(tracing) = &configured.config.tracing else { return Ok(None) };
    let _inside = runtime.enter();
    let spans = Spans::new(tracing, "forklore").map_err(|error| {
        crate::ConfigError::new(&configured.path, format!("[tracing]: {error}"))
    })?;
    Ok(Some(Arc::new(spans)))
}

fn over_http(config: &ModelConfig) -> Result<Arc<dyn Model>> {
    let model = HttpModel::new(config.clone()).map_err(|error| Error::Model(error.to_string()))?;
    Ok(Arc::new(model))
}

//! The host: the kernel and the configured models and tools, which the conversations of a program
//! share.

use futures_util::future::{BoxFuture, FutureExt};
use std::ops::Range;
use std::sync::Arc;

use forklore_agent::approve::{Approve, Nobody, Policy};
use forklore_agent::delegate_tool::DelegateTool;
use forklore_agent::evidence::Evidence;
use forklore_agent::media::Capabilities;
use forklore_agent::model::{Model, Options};
use forklore_agent::{AgentSession, Kernel, NewSession, SessionConfig, Settings};
use forklore_core::SessionId;
use forklore_engine::{Engine, Fork, Forked, Summarize};
use forklore_llm::{HttpModel, ModelConfig};
use forklore_mcp_client::{McpTools, Pattern, UserPolicy};
use forklore_otel::Spans;

use crate::allowed::AllowedInRun;
use crate::budget::Budgets;
use crate::config::Configured;
use crate::files::{Files, OpenFiles};
use crate::{ConfigError, Error, Result, Start};

/// A function that creates a model from its configuration.
pub type MakeModel = dyn Fn(&ModelConfig) -> Result<Arc<dyn Model>> + Send + Sync;

/// An agent kernel (which runs turns) on one store, with the models and tools that the user has
/// configured.
///
/// A host starts no tool server before [`start_tools`](Self::start_tools). The methods run on the
/// caller's tokio runtime; a host has no runtime of its own.
pub struct Host {
    configured: Configured,
    kernel: Kernel,
    tools: Arc<McpTools>,
    spans: Option<Arc<Spans>>,
    make: Box<MakeModel>,
    /// Patterns of the tools that need no approval in this run.
    allowed: Vec<Pattern>,
    pub(crate) budgets: Budgets,
    pub(crate) files: Option<Files>,
}

impl Host {
    /// Creates a host on `engine` that calls models over HTTP. Call this function inside a tokio
    /// runtime.
    ///
    /// # Errors
    /// Returns an error if the configuration of a tool server or of tracing is invalid.
    pub fn new(engine: Engine, configured: Configured) -> Result<Self> {
        Self::with_models(engine, configured, Box::new(over_http))
    }

    /// Creates a host that calls `make` to create its models. Call this function inside a tokio
    /// runtime.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn with_models(
        engine: Engine,
        configured: Configured,
        make: Box<MakeModel>,
    ) -> Result<Self> {
        let tools = McpTools::new(&configured.config.tools)
            .map_err(|error| ConfigError::new(&configured.path, error.to_string()))?;
        let spans = spans(&configured)?;
        let kernel = Kernel::builder(engine).application("forklore chat");
        let kernel = spans.iter().fold(kernel, |kernel, spans| kernel.sink(spans.clone())).build();
        let (tools, allowed) = (Arc::new(tools), Vec::new());
        let budgets = Budgets::of(&configured);
        let files = None;
        Ok(Self { configured, kernel, tools, spans, make, allowed, budgets, files })
    }

    /// Allows the sessions of this host to call the tools that match `tools` without approval.
    ///
    /// Calls that the configuration denies stay denied, and so do calls beyond a session's ceiling
    /// (the permissions in its header).
    #[must_use]
    pub fn allowing(self, tools: Vec<Pattern>) -> Self {
        Self { allowed: tools, ..self }
    }

    /// Lets conversations take files back, with the snapshots that `open` opens when they are first
    /// needed. The turns of sessions with tools then take snapshots, unless the configuration says
    /// otherwise.
    #[must_use]
    pub fn with_files(self, open: Box<OpenFiles>) -> Self {
        let records = self.configured.config.snapshots.turns;
        let tools = records.then(|| self.tools.clone());
        let files = Files::new(self.engine().clone(), tools, open);
        Self { files: Some(files), ..self }
    }

    /// Returns the user's configuration.
    #[must_use]
    pub fn configured(&self) -> &Configured {
        &self.configured
    }

    /// Returns the agent kernel, which runs the turns of sessions.
    #[must_use]
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Returns the engine, which implements the operations on the store.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        self.kernel.engine()
    }

    /// Runs a blocking engine operation on a thread where blocking is allowed.
    ///
    /// # Errors
    /// The errors of the operation.
    pub async fn run<T: Send + 'static>(
        &self,
        verb: impl FnOnce(&Engine) -> forklore_engine::Result<T> + Send + 'static,
    ) -> Result<T> {
        let engine = self.engine().clone();
        match tokio::task::spawn_blocking(move || verb(&engine)).await {
            Ok(done) => Ok(done?),
            Err(_) => Err(Error::Interrupted),
        }
    }

    /// Starts the tool servers. Returns an error message for each server that does not start.
    pub fn start_tools(&self) -> BoxFuture<'_, Vec<String>> {
        async move { self.tools.start().await.iter().map(ToString::to_string).collect() }.boxed()
    }

    /// Waits until turns whose futures were dropped have released their sessions. Then stops the
    /// tool servers, and sends the remaining tracing spans to the collector.
    pub fn close(&self) -> BoxFuture<'_, ()> {
        async move {
            self.kernel.settle().await;
            self.tools.end().await;
            // Ignore a failure of the collector, which must not affect the conversation.
            if let Some(spans) = &self.spans {
                spans.clone().end().await;
            }
        }
        .boxed()
    }

    /// Returns which files a model accepts in a request. `None` selects the default model.
    ///
    /// # Errors
    /// Returns an error if no model with this name is configured, or if the model's configuration
    /// is invalid.
    pub fn takes(&self, model: Option<&str>) -> Result<Capabilities> {
        let (_, config) = self.configured.model(model)?;
        Ok((self.make)(config)?.takes())
    }

    /// Returns the model, tools and settings of a session in which the model with this name
    /// answers. `approve` decides about the tool calls that need approval.
    ///
    /// # Errors
    /// Returns an error if no model with this name is configured, or if the model's configuration
    /// is invalid.
    pub fn equipment(&self, model: &str, approve: Arc<dyn Approve>) -> Result<SessionConfig> {
        let (_, config) = self.configured.model(Some(model))?;
        let settings = Settings {
            options: Options {
                max_output_tokens: config.max_output_tokens,
                temperature: config.temperature,
                ..Options::default()
            },
            prices: self.configured.config.price_of(config),
            ..Settings::default()
        };
        Ok(SessionConfig {
            tools: self.tools.clone(),
            policy: self.policy(),
            approve,
            delegation: self.configured.config.delegate.clone().and_then(DelegateTool::within),
            system: self.configured.config.system.clone(),
            evidence: self.files.clone().map(|files| Arc::new(files) as Arc<dyn Evidence>),
            settings,
            ..SessionConfig::new((self.make)(config)?)
        })
    }

    /// Opens or creates the session in which a conversation begins. Returns the session and the
    /// configured name of its model.
    pub(crate) fn session<'a>(
        &'a self,
        start: &'a Start,
        approve: Arc<dyn Approve>,
    ) -> BoxFuture<'a, Result<(AgentSession, String)>> {
        async move {
            let (model, _) = self.configured.model(start.model.as_deref())?;
            let mut equipment = self.budgeted(model, approve, start.session.as_ref()).await?;
            equipment.settings.lease_wait = start.lease_wait;
            let session = match &start.session {
                Some(id) => self.kernel.open(id, equipment).await?,
                None => {
                    let new = NewSession {
                        title: start.title.clone(),
                        permissions: start.permissions.clone(),
                        ..NewSession::in_workspace(start.workspace.clone())
                    };
                    self.kernel.create(new, equipment)
                }
            };
            Ok((session, model.to_owned()))
        }
        .boxed()
    }

    /// Forks a session, and adds a summary by a model after the inherited history. If the model
    /// cannot be called, the engine writes the summary. Returns the fork, and the summary if this
    /// call recorded it.
    ///
    /// # Errors
    /// Returns an error if the fork is refused.
    pub async fn fork_with_summary(
        &self,
        model: Option<&str>,
        request: Fork,
    ) -> Result<(Forked, Option<Summarize>)> {
        let session = match self.unattended(model, &request.parent).await {
            Ok(session) => session,
            Err(error) => {
                let summary = Summarize::fallback(error.to_string());
                let request = Fork { summarize: Some(summary.clone()), ..request };
                let forked = self.run(move |engine| engine.fork_or_copy(&request)).await?;
                let made = forked.recorded.then_some(summary);
                return Ok((forked, made));
            }
        };
        let (branched, summary) = session.fork_with_summary(request).await?;
        Ok((branched.forked, summary))
    }

    /// Asks a model to summarize a part of a session. `part` is the range of the message indexes to
    /// summarize.
    ///
    /// # Errors
    /// Returns an error if no model is configured, or if the session or the part does not exist.
    pub async fn summarize_part(
        &self,
        model: Option<&str>,
        session: &SessionId,
        part: Range<u64>,
    ) -> Result<Summarize> {
        let session = self.unattended(model, session).await?;
        Ok(session.summarize_part(part).await?)
    }

    /// Opens a stored session in which every tool call that needs approval is denied.
    async fn unattended(&self, model: Option<&str>, session: &SessionId) -> Result<AgentSession> {
        let (model, _) = self.configured.model(model)?;
        let equipment = self.budgeted(model, Arc::new(Nobody), Some(session)).await?;
        Ok(self.kernel.open(session, equipment).await?)
    }

    fn policy(&self) -> Arc<dyn Policy> {
        let rules = self.configured.config.policy.clone();
        let policy = UserPolicy::new(rules, self.tools.clone());
        Arc::new(AllowedInRun { policy, tools: self.allowed.clone() })
    }
}

/// Creates the sender of tracing spans, if the configuration names a collector.
fn spans(configured: &Configured) -> Result<Option<Arc<Spans>>> {
    let Some(tracing) = &configured.config.tracing else { return Ok(None) };
    let spans = Spans::new(tracing, "forklore")
        .map_err(|error| ConfigError::new(&configured.path, format!("[tracing]: {error}")))?;
    Ok(Some(Arc::new(spans)))
}

fn over_http(config: &ModelConfig) -> Result<Arc<dyn Model>> {
    let model = HttpModel::new(config.clone()).map_err(|error| Error::Model(error.to_string()))?;
    Ok(Arc::new(model))
}

//! What the sessions of an agent do, as OpenTelemetry spans over OTLP.
//!
//! [`Spans`] is a [`Sink`] of the kernel: a turn is a trace, made of
//! `invoke_agent`, `chat` and `execute_tool` spans after the conventions for generative AI. What
//! is said is left out unless asked for. The spans go out on a thread of their own: a collector
//! that is slow or gone neither delays nor fails a turn.

mod client;
mod spans;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use forklore_agent::notify::{Notification, Sink};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use serde::Deserialize;

use client::Client;
use spans::Sessions;

/// How long a collector may take for one request, and how long the end waits for it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where spans go, as a user's configuration says it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TracingConfig {
    /// The address that takes traces, whole, such as `http://localhost:4318/v1/traces`.
    pub endpoint: String,
    /// Headers of each request: the header's name, and the variable that holds its value.
    #[serde(default)]
    pub header_env: BTreeMap<String, String>,
    /// Whether prompts, answers, arguments and results go along.
    #[serde(default)]
    pub content: bool,
}

/// Why there are no spans.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotTraced {
    /// A variable that the configuration names is not set.
    #[error("the environment variable {0} is not set")]
    Variable(String),
    /// What the configuration says makes no sense.
    #[error("cannot send spans: {0}")]
    Exporter(#[from] opentelemetry_otlp::ExporterBuildError),
    /// There is nothing to send them with.
    #[error("cannot send spans: {0}")]
    Client(#[from] reqwest::Error),
    /// It has to be made where tokio runs.
    #[error("cannot send spans: {0}")]
    Runtime(#[from] tokio::runtime::TryCurrentError),
}

/// Makes spans of notifications and sends them.
pub struct Spans {
    sessions: Mutex<Sessions>,
    provider: SdkTracerProvider,
}

impl Spans {
    /// Spans that go where the configuration says, in the name of this agent.
    ///
    /// # Errors
    /// When a variable is not set or the address is none. Whether anyone is there shows later, and
    /// is no matter for a turn.
    pub fn new(config: &TracingConfig, agent: &str) -> Result<Self, NotTraced> {
        let headers = config.header_env.iter().map(|(header, variable)| {
            let value = std::env::var(variable);
            let value = value.map_err(|_| NotTraced::Variable(variable.clone()))?;
            Ok((header.clone(), value))
        });
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(Client::new(PATIENCE)?)
            .with_endpoint(&config.endpoint)
            .with_headers(headers.collect::<Result<_, NotTraced>>()?)
            .with_timeout(PATIENCE)
            .build()?;
        let provider = SdkTracerProvider::builder()
            .with_resource(Resource::builder().with_service_name(agent.to_owned()).build())
            .with_batch_exporter(exporter)
            .build();
        let tracer = provider.tracer("forklore");
        let sessions = Mutex::new(Sessions::new(tracer, agent, config.content));
        Ok(Self { sessions, provider })
    }

    /// Sends what is left, for two seconds at most, and says whether it arrived.
    pub async fn end(self: Arc<Self>) -> bool {
        let ended = tokio::task::spawn_blocking(move || {
            self.sessions.lock().unwrap_or_else(PoisonError::into_inner).end();
            let flushed = self.provider.force_flush();
            let shut = self.provider.shutdown_with_timeout(PATIENCE);
            flushed.is_ok() && shut.is_ok()
        });
        tokio::time::timeout(PATIENCE, ended).await.is_ok_and(|ended| ended.unwrap_or(false))
    }
}

impl Sink for Spans {
    fn take(&self, told: &Arc<Notification>) {
        if !told.is_ephemeral() {
            self.sessions.lock().unwrap_or_else(PoisonError::into_inner).take(told);
        }
    }
}

//! Exports the activity of an agent's sessions as OpenTelemetry spans over OTLP.
//!
//! Use this crate to see turns, model calls and tool calls in a tracing system. To react to these
//! events inside the program, use the notifications of `forklore-agent` directly
//! ([`notify`](forklore_agent::notify)).
//!
//! - [`Spans`] is a [`Sink`] of the kernel. A turn is a trace of `invoke_agent`, `chat` and
//!   `execute_tool` spans, as in the semantic conventions for generative AI.
//! - [`TracingConfig`] is the user's configuration of the collector that receives the spans.
//!
//! ```
//! use std::sync::Arc;
//!
//! use forklore_agent::{Kernel, NewSession, SessionConfig};
//! use forklore_core::workspace::Workspace;
//! use forklore_engine::Engine;
//! use forklore_otel::{Spans, TracingConfig};
//! use forklore_store::memory::MemoryStore;
//! # use std::io::{BufRead as _, BufReader, Read as _, Write as _};
//! # use forklore_agent::model::{
//! #     AnswerStream, End, Model, ModelName, ModelResult, Request, StreamEvent,
//! # };
//! # use forklore_core::Message;
//! # use futures_util::future::BoxFuture;
//! # use futures_util::{StreamExt as _, stream};
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
//! # let endpoint = format!("http://{}/v1/traces", listener.local_addr()?);
//! # let collector = std::thread::spawn(move || -> std::io::Result<Vec<u8>> {
//! #     let mut stream = BufReader::new(listener.accept()?.0);
//! #     let (mut line, mut length) = (String::new(), 0);
//! #     while stream.read_line(&mut line)? > 2 {
//! #         if let Some(number) = line.to_lowercase().strip_prefix("content-length:") {
//! #             length = number.trim().parse().unwrap_or(0);
//! #         }
//! #         line.clear();
//! #     }
//! #     let mut body = vec![0; length];
//! #     stream.read_exact(&mut body)?;
//! #     stream.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")?;
//! #     Ok(body)
//! # });
//! // A collector listens at `endpoint`, such as `http://localhost:4318/v1/traces`.
//! let config = TracingConfig { endpoint, header_env: [].into(), content: false };
//! let spans = Arc::new(Spans::new(&config, "my-agent")?);
//!
//! // `echo` returns a model that repeats the prompt.
//! let engine = Engine::new(Arc::new(MemoryStore::default()));
//! let kernel = Kernel::builder(engine).sink(spans.clone()).build();
//! let new = NewSession::in_workspace(Workspace::new("/work/demo"));
//! kernel.create(new, SessionConfig::new(echo())).execute("plan A or plan B?").await?;
//!
//! assert!(spans.end().await, "the collector has every span");
//! # let body = collector.join().map_err(|_| "the collector failed")??;
//! # let has = |text: &str| body.windows(text.len()).any(|part| part == text.as_bytes());
//! # assert!(has("invoke_agent") && !has("plan A or plan B?"));
//! # Ok(())
//! # }
//! # struct Echo(ModelName);
//! # impl Model for Echo {
//! #     fn name(&self) -> &ModelName { &self.0 }
//! #     fn context_window(&self) -> Option<u64> { None }
//! #     fn body(&self, _: &Request) -> ModelResult<Vec<u8>> { Ok(Vec::new()) }
//! #     fn stream<'a>(
//! #         &'a self,
//! #         request: &'a Request,
//! #     ) -> BoxFuture<'a, ModelResult<AnswerStream<'a>>> {
//! #         let prompt = request.messages.last().map(Message::plain_text).unwrap_or_default();
//! #         let end = StreamEvent::End(End::default());
//! #         let pieces = [StreamEvent::Text(format!("You said: {prompt}")), end];
//! #         Box::pin(async move { Ok(stream::iter(pieces.map(Ok)).boxed()) })
//! #     }
//! # }
//! # fn echo() -> Arc<dyn Model> {
//! #     Arc::new(Echo(ModelName { provider: "example".into(), model: "echo".into() }))
//! # }
//! ```
//!
//! Spans omit the content of messages unless `TracingConfig::content` is set. A separate thread
//! sends the spans, so a slow or missing collector neither delays nor fails a turn. The crate
//! exports no metrics and no logs, and it does not receive or store spans.

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

/// The timeout of each request to the trace collector, and of the whole function [`Spans::end`].
const PATIENCE: Duration = Duration::from_secs(2);

/// The part of the user's configuration that sets where to send OpenTelemetry spans and what they
/// contain.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TracingConfig {
    /// The collector's complete URL for traces, such as `http://localhost:4318/v1/traces`.
    pub endpoint: String,
    /// Additional HTTP headers for each request to the collector. Maps a header's name to the name
    /// of the environment variable that contains the header's value.
    #[serde(default)]
    pub header_env: BTreeMap<String, String>,
    /// Whether spans include prompts, responses, tool arguments and tool results.
    #[serde(default)]
    pub content: bool,
}

/// The reason why [`Spans::new`] failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotTraced {
    /// An environment variable that `header_env` names is not set or is not Unicode.
    #[error("the environment variable {0} is not set")]
    Variable(String),
    /// The configuration of the span exporter is invalid, for example its URL.
    #[error("cannot send spans: {0}")]
    Exporter(#[from] opentelemetry_otlp::ExporterBuildError),
    /// The HTTP client that sends the spans could not be created.
    #[error("cannot send spans: {0}")]
    Client(#[from] reqwest::Error),
    /// [`Spans::new`] was called outside a tokio runtime.
    #[error("cannot send spans: {0}")]
    Runtime(#[from] tokio::runtime::TryCurrentError),
}

/// A sink of notifications (events of an agent's sessions), which converts them to OpenTelemetry
/// spans and exports the spans.
pub struct Spans {
    sessions: Mutex<Sessions>,
    provider: SdkTracerProvider,
}

impl Spans {
    /// Creates a notification sink that sends spans to the configured collector. `agent` is the
    /// service name of the spans.
    ///
    /// # Errors
    /// If an environment variable that `header_env` names is not set or is not Unicode, the URL is
    /// invalid, the HTTP client cannot be created, or the caller is outside a tokio runtime. An
    /// unreachable collector is no error here: only the later export of spans fails.
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

    /// Ends all open spans and sends all spans that were not sent yet. Waits at most two seconds.
    /// Returns whether all these spans were sent successfully within this time.
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
    fn take(&self, notification: &Arc<Notification>) {
        if !notification.is_ephemeral() {
            self.sessions.lock().unwrap_or_else(PoisonError::into_inner).take(notification);
        }
    }
}

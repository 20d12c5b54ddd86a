//! A server: starts it when it is needed, lists its tools, and calls them.

mod call;
mod client;
mod denied;
mod error_text;

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use forklore_sanitize::terminal;
use rmcp::model::Tool;
use rmcp::service::{ClientInitializeError, RunningService, serve_client};
use rmcp::transport::Transport;
use rmcp::{RoleClient, ServiceError};
use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;

use crate::config::{Connection, ValidConfig};
use crate::name::ServerName;
use crate::stderr_tail::StderrTail;
use crate::stdio::{self, Process};
use client::Client;
use denied::Denied;

/// The maximum time for closing a connection.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// An MCP server of the configuration. The server is started when a method first needs it.
pub(crate) struct Server {
    pub(crate) name: ServerName,
    config: ValidConfig,
    stderr: StderrTail,
    tools: Tools,
    live: Mutex<Option<Arc<Live>>>,
    /// The programs of this server that have not stopped yet, including a program whose start was
    /// cancelled.
    programs: TaskTracker,
}

/// The tools that a server listed most recently, sorted by name.
type Tools = Arc<RwLock<Arc<[Tool]>>>;

/// A connection to a running server. All running calls share the connection.
struct Live {
    service: RunningService<RoleClient, Client>,
    process: Option<Process>,
    /// Whether a call has found that the server no longer answers.
    is_broken: AtomicBool,
}

/// The reason why a server does not start. The error message escapes the server's output for a
/// terminal.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program of the server cannot be started.
    #[error("cannot start `{command}`: {source}")]
    NotStarted {
        /// The program that the configuration names.
        command: String,
        /// The error of the operating system when the program was started.
        source: std::io::Error,
    },
    /// An environment variable that the configuration names is not set.
    #[error("the environment variable {variable} is not set")]
    Variable {
        /// The name of the environment variable.
        variable: String,
    },
    /// An HTTP header of the configuration cannot be sent, because its name or its value is
    /// invalid.
    #[error("the header {header}, from {variable}, {what}")]
    Header {
        /// The name of the HTTP header that cannot be sent.
        header: String,
        /// The name of the environment variable that contains the value of the HTTP header.
        variable: String,
        /// Describes why the HTTP header is invalid.
        what: &'static str,
    },
    /// The server requires authentication or denies access (HTTP 401 or 403).
    #[error("{message}")]
    Denied {
        /// The server's reply, with advice for the configuration.
        message: String,
    },
    /// The server was not ready in time.
    #[error("it was not ready within {} seconds{}", .after.as_secs(), stderr_note(.stderr))]
    Slow {
        /// The maximum time for the start, which the server exceeded.
        after: Duration,
        /// The last lines that the server wrote to its standard error. Empty if there are none.
        stderr: String,
    },
    /// The server did not initialize: it ended, or it does not implement MCP.
    #[error("{}{}", error_text::refused(.source), stderr_note(.stderr))]
    Refused {
        /// The error of the MCP library for the failed initialization.
        source: Box<ClientInitializeError>,
        /// The last lines that the server wrote to its standard error. Empty if there are none.
        stderr: String,
    },
    /// The server started, but the request for its list of tools failed.
    #[error("it does not name its tools: {}{}", error_text::failed(.source), stderr_note(.stderr))]
    NoTools {
        /// The error of the request for the list of tools.
        source: ServiceError,
        /// The last lines that the server wrote to its standard error. Empty if there are none.
        stderr: String,
    },
}

/// Formats the last lines of a server's standard error as the end of an error message. Returns an
/// empty string if `stderr` is empty.
fn stderr_note(stderr: &str) -> String {
    if stderr.is_empty() {
        String::new()
    } else {
        format!("; it said: {}", terminal::block(stderr))
    }
}

impl Server {
    pub(crate) fn new(name: ServerName, config: ValidConfig) -> Self {
        let tools = Arc::new(RwLock::new(Arc::from([])));
        let stderr = match &config.connection {
            Connection::Program { env_from, .. } => StderrTail::without(env_from),
            Connection::Address { .. } => StderrTail::default(),
        };
        Self { name, config, stderr, tools, live: Mutex::default(), programs: TaskTracker::new() }
    }

    /// Returns the tools that the server listed most recently. Returns none before the server has
    /// started.
    pub(crate) fn tools(&self) -> Arc<[Tool]> {
        client::current_tools(&self.tools)
    }

    /// Returns the connection to the server. Starts the server if it does not run.
    async fn live(&self) -> Result<Arc<Live>, StartError> {
        let mut live = self.live.lock().await;
        if let Some(over) = live.take_if(|live| live.is_over()) {
            tracing::warn!(server = %self.name, "a tool server has ended and is started again");
            over.end().await;
        }
        let running = match live.take() {
            Some(running) => running,
            None => Arc::new(self.start_logged().await?),
        };
        *live = Some(running.clone());
        Ok(running)
    }

    /// Starts the server if it does not run.
    pub(crate) async fn ready(&self) -> Result<(), StartError> {
        self.live().await.map(drop)
    }

    /// Stops the server, and waits until all its programs have stopped.
    pub(crate) async fn end(&self) {
        let mut live = self.live.lock().await;
        if let Some(live) = live.take() {
            live.end().await;
        }
        self.programs.close();
        self.programs.wait().await;
        self.programs.reopen();
    }

    async fn start_logged(&self) -> Result<Live, StartError> {
        let started = self.start().await;
        let server = &self.name;
        match &started {
            Ok(_) => tracing::debug!(%server, tools = self.tools().len(), "a tool server is ready"),
            // Log only the kind of the error, because its message may quote output of the server.
            Err(error) => {
                tracing::warn!(%server, cause = error.cause(), "a tool server did not start");
            }
        }
        started
    }

    async fn start(&self) -> Result<Live, StartError> {
        match &self.config.connection {
            Connection::Address { url, header_env, token_env } => {
                let transport = crate::http::transport(url, header_env, token_env.as_deref())?;
                self.connect(transport, None).await
            }
            Connection::Program { command, args, env_from, folder } => {
                let variables =
                    env_from.iter().map(|name| variable(name)).collect::<Result<Vec<_>, _>>()?;
                let folder = folder.as_deref();
                let started =
                    Process::start(&self.programs, command, args, folder, variables, &self.stderr);
                let (process, spawned) = started.map_err(|source| StartError::NotStarted {
                    command: command.clone(),
                    source,
                })?;
                self.connect(stdio::transport(spawned, &self.stderr), Some(process)).await
            }
        }
    }

    /// Initializes the connection and lists the tools of the server. Stops the server if this fails
    /// or takes too long.
    async fn connect(
        &self,
        transport: impl Transport<RoleClient> + 'static,
        process: Option<Process>,
    ) -> Result<Live, StartError> {
        let after = self.config.start;
        let connected = tokio::time::timeout(after, async {
            let client = Client::new(&self.tools, after);
            let service = serve_client(client, transport).await.map_err(|source| {
                let denied = Denied::at_start(&source);
                self.denied(denied.as_ref()).unwrap_or_else(|| StartError::Refused {
                    source: Box::new(source),
                    stderr: String::new(),
                })
            })?;
            let tools = service.peer().list_all_tools().await;
            let tools = tools.map_err(|source| {
                let denied = Denied::later(&source);
                let other = || StartError::NoTools { source, stderr: String::new() };
                self.denied(denied.as_ref()).unwrap_or_else(other)
            })?;
            client::store_tools(&self.tools, tools);
            Ok(service)
        });
        let error = match connected.await {
            Ok(Ok(service)) => {
                return Ok(Live { service, process, is_broken: AtomicBool::new(false) });
            }
            Ok(Err(error)) => error,
            Err(_) => StartError::Slow { after, stderr: String::new() },
        };
        if let Some(process) = process {
            process.end().await;
        }
        Err(error.with_stderr(self.stderr.lines()))
    }

    fn denied(&self, denied: Option<&Denied>) -> Option<StartError> {
        let message = denied?.message(&self.name, &self.config.connection);
        Some(StartError::Denied { message })
    }
}

impl StartError {
    /// Returns the kind of this error as a fixed word for logs.
    fn cause(&self) -> &'static str {
        match self {
            Self::NotStarted { .. } => "not_started",
            Self::Variable { .. } => "variable_not_set",
            Self::Header { .. } => "invalid_header",
            Self::Denied { .. } => "denied",
            Self::Slow { .. } => "timed_out",
            Self::Refused { .. } => "not_initialized",
            Self::NoTools { .. } => "no_tools",
        }
    }

    fn with_stderr(mut self, tail: String) -> Self {
        match &mut self {
            Self::Slow { stderr, .. }
            | Self::Refused { stderr, .. }
            | Self::NoTools { stderr, .. } => {
                *stderr = tail;
            }
            Self::NotStarted { .. }
            | Self::Variable { .. }
            | Self::Header { .. }
            | Self::Denied { .. } => {}
        }
        self
    }
}

impl Live {
    fn is_over(&self) -> bool {
        let is_broken = self.is_broken.load(Ordering::Relaxed);
        // The connection may notice only later that the program has ended.
        let has_ended = self.process.as_ref().is_some_and(Process::has_ended);
        is_broken || has_ended || self.service.is_closed() || self.service.is_transport_closed()
    }

    /// Stops the child process of the connection, if there is one. A connection over HTTP ends with
    /// the last call that uses it, because the server may still answer that call.
    async fn end(self: Arc<Self>) {
        let live = match Arc::try_unwrap(self) {
            Ok(live) => live,
            Err(shared) => {
                if let Some(process) = &shared.process {
                    shared.service.cancellation_token().cancel();
                    process.end().await;
                }
                return;
            }
        };
        // Closing the service closes the standard input of the program. Most programs then exit.
        let mut service = live.service;
        let _ = service.close_with_timeout(CLOSE_TIMEOUT).await;
        if let Some(process) = live.process {
            process.end().await;
        }
    }
}

fn variable(name: &str) -> Result<(OsString, OsString), StartError> {
    match std::env::var_os(name) {
        Some(value) => Ok((name.into(), value)),
        None => Err(StartError::Variable { variable: name.to_owned() }),
    }
}

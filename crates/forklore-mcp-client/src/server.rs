//! One server: started when it is needed, asked for its tools, called.

mod call;
mod client;
mod denied;
mod words;

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

use crate::config::{Checked, Reached};
use crate::name::ServerName;
use crate::said::Said;
use crate::stdio::{self, Process};
use client::Client;
use denied::Denied;

/// How long a farewell over the network may take.
const GOODBYE: Duration = Duration::from_secs(2);

/// A server, running or not.
pub(crate) struct Server {
    pub(crate) name: ServerName,
    config: Checked,
    said: Said,
    tools: Tools,
    live: Mutex<Option<Arc<Live>>>,
}

/// The tools that a server has named last, in the order of their names.
type Tools = Arc<RwLock<Arc<[Tool]>>>;

/// A connection to a server that runs. Calls hold it while they are under way.
struct Live {
    service: RunningService<RoleClient, Client>,
    process: Option<Process>,
    /// Whether a call found that nobody answers here any more.
    is_broken: AtomicBool,
}

/// Why a server does not start. What it says itself is escaped for a terminal.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program cannot be started.
    #[error("cannot start `{command}`: {source}")]
    NotStarted {
        /// The program.
        command: String,
        /// Why.
        source: std::io::Error,
    },
    /// A variable that the configuration names is not set.
    #[error("the environment variable {variable} is not set")]
    Variable {
        /// The variable.
        variable: String,
    },
    /// A header cannot be sent.
    #[error("the header {header}, from {variable}, {what}")]
    Header {
        /// The header.
        header: String,
        /// The variable with its value.
        variable: String,
        /// What is wrong.
        what: &'static str,
    },
    /// It does not know who asks, or does not let them in.
    #[error("{told}")]
    Denied {
        /// What it says, and what to write into the configuration.
        told: String,
    },
    /// It did not answer in time.
    #[error("it was not ready within {} seconds{}", .after.as_secs(), last_words(.said))]
    Slow {
        /// How long was waited.
        after: Duration,
        /// What it wrote on standard error.
        said: String,
    },
    /// It said something else than a server does, or ended.
    #[error("{}{}", words::refused(.source), last_words(.said))]
    Refused {
        /// What.
        source: Box<ClientInitializeError>,
        /// What it wrote on standard error.
        said: String,
    },
    /// It does not name its tools.
    #[error("it does not name its tools: {}{}", words::failed(.source), last_words(.said))]
    NoTools {
        /// What it says instead.
        source: ServiceError,
        /// What it wrote on standard error.
        said: String,
    },
}

/// What a server said, behind the message that tells what went wrong.
fn last_words(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!("; it said: {}", terminal::block(said)) }
}

impl Server {
    pub(crate) fn new(name: ServerName, config: Checked) -> Self {
        let tools = Arc::new(RwLock::new(Arc::from([])));
        let said = match &config.reached {
            Reached::Program { env_from, .. } => Said::without(env_from),
            Reached::Address { .. } => Said::default(),
        };
        Self { name, config, said, tools, live: Mutex::default() }
    }

    /// The tools that it named last; none before it has started.
    pub(crate) fn tools(&self) -> Arc<[Tool]> {
        client::read(&self.tools)
    }

    /// The connection to it; it is started where it does not run.
    async fn reach(&self) -> Result<Arc<Live>, StartError> {
        let mut live = self.live.lock().await;
        if let Some(over) = live.take_if(|live| live.is_over()) {
            over.end().await;
        }
        let running = match live.take() {
            Some(running) => running,
            None => Arc::new(self.start().await?),
        };
        *live = Some(running.clone());
        Ok(running)
    }

    /// Starts it, where it does not run.
    pub(crate) async fn ready(&self) -> Result<(), StartError> {
        self.reach().await.map(drop)
    }

    /// Ends it.
    pub(crate) async fn end(&self) {
        if let Some(live) = self.live.lock().await.take() {
            live.end().await;
        }
    }

    async fn start(&self) -> Result<Live, StartError> {
        match &self.config.reached {
            Reached::Address { url, header_env, token_env } => {
                let transport = crate::http::transport(url, header_env, token_env.as_deref())?;
                self.meet(transport, None).await
            }
            Reached::Program { command, args, env_from, folder } => {
                let variables =
                    env_from.iter().map(|name| named(name)).collect::<Result<Vec<_>, _>>()?;
                let started =
                    Process::start(command, args, folder.as_deref(), variables, &self.said);
                let (process, spawned) = started.map_err(|source| StartError::NotStarted {
                    command: command.clone(),
                    source,
                })?;
                self.meet(stdio::transport(spawned, &self.said), Some(process)).await
            }
        }
    }

    /// The first words: who is there, and which tools it has. A server that does not find them in
    /// time is ended.
    async fn meet(
        &self,
        transport: impl Transport<RoleClient> + 'static,
        process: Option<Process>,
    ) -> Result<Live, StartError> {
        let after = self.config.start;
        let met = tokio::time::timeout(after, async {
            let client = Client::new(&self.tools, after);
            let service = serve_client(client, transport).await.map_err(|source| {
                let denied = Denied::at_start(&source);
                self.denied(denied.as_ref()).unwrap_or_else(|| StartError::Refused {
                    source: Box::new(source),
                    said: String::new(),
                })
            })?;
            let tools = service.peer().list_all_tools().await;
            let tools = tools.map_err(|source| {
                let denied = Denied::later(&source);
                let other = || StartError::NoTools { source, said: String::new() };
                self.denied(denied.as_ref()).unwrap_or_else(other)
            })?;
            client::keep(&self.tools, tools);
            Ok(service)
        });
        let error = match met.await {
            Ok(Ok(service)) => {
                return Ok(Live { service, process, is_broken: AtomicBool::new(false) });
            }
            Ok(Err(error)) => error,
            Err(_) => StartError::Slow { after, said: String::new() },
        };
        if let Some(process) = process {
            process.end().await;
        }
        Err(error.with(self.said.lines()))
    }

    fn denied(&self, denied: Option<&Denied>) -> Option<StartError> {
        let told = denied?.told(&self.name, &self.config.reached);
        Some(StartError::Denied { told })
    }
}

impl StartError {
    fn with(mut self, words: String) -> Self {
        match &mut self {
            Self::Slow { said, .. } | Self::Refused { said, .. } | Self::NoTools { said, .. } => {
                *said = words;
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
        is_broken || self.service.is_closed() || self.service.is_transport_closed()
    }

    /// Ends a program. A connection without one ends with the last call that holds it, for which
    /// the server may yet have an answer.
    async fn end(self: Arc<Self>) {
        let live = match Arc::try_unwrap(self) {
            Ok(live) => live,
            Err(held) => {
                if let Some(process) = &held.process {
                    held.service.cancellation_token().cancel();
                    process.end().await;
                }
                return;
            }
        };
        // The service ends the program's input, by which most know that they are done.
        let mut service = live.service;
        let _ = service.close_with_timeout(GOODBYE).await;
        if let Some(process) = live.process {
            process.end().await;
        }
    }
}

fn named(name: &str) -> Result<(OsString, OsString), StartError> {
    match std::env::var_os(name) {
        Some(value) => Ok((name.into(), value)),
        None => Err(StartError::Variable { variable: name.to_owned() }),
    }
}

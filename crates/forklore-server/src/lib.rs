//! The server of forklore: the sessions of one store over HTTP.
//!
//! [`Server::bind`] listens, and [`Server::run`] answers until it is told to stop. Under `/api/v1` are
//! the types of the contract as JSON, with server-sent events for what changes; everything else is
//! for the browser. `docs/server.md` describes both, `docs/reference/openapi.json` every route.
//!
//! Every request names who sends it, by a token or by the cookie of the page. The server listens on
//! this machine only, unless it is told otherwise, and answers only to its own names.

mod access;
mod api;
mod audit;
mod connection;
mod live;
mod mcp;
mod problem;
mod routes;
mod service;
mod store;

use std::net::SocketAddr;
use std::path::PathBuf;

use axum::http::Uri;
use forklore_api::Scope;
use forklore_core::ErrorKind;
use forklore_web_chat::Chat;
use tokio::net::TcpListener;

use access::Caller;
use access::hosts::Hosts;
use audit::Audit;
use service::Service;

#[cfg(feature = "schema")]
pub use api::openapi;

pub use access::token::{TokenError, TokenFile};
pub use forklore_web::Pages;
pub use forklore_web_chat::Agent;
pub use problem::Problem;

/// How a server listens, and where its state is.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address to listen at. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// The URL under which others reach the server, for example behind a proxy that encrypts.
    pub public_url: Option<Uri>,
    /// The folder of the tokens and the log of writes.
    pub state: PathBuf,
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be listened at.
    #[error("listening at {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The folder of the state cannot be written.
    #[error("writing to {path}: {source}")]
    State {
        /// The path of the file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The public URL has no scheme or no host.
    #[error("the public URL {0} is no URL of a server, such as https://lore.example")]
    PublicUrl(Uri),
    /// The system has no random numbers.
    #[error("the system's random number generator failed: {0}")]
    Random(#[from] getrandom::Error),
}

impl StartError {
    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Listen { source, .. } | Self::State { source, .. } => of_system(source),
            Self::PublicUrl(_) => ErrorKind::InvalidArgs,
            Self::Random(_) => ErrorKind::Internal,
        }
    }
}

/// Returns the kind of an error of the operating system.
pub(crate) fn of_system(error: &std::io::Error) -> ErrorKind {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
        std::io::ErrorKind::AddrInUse => ErrorKind::Busy,
        std::io::ErrorKind::AddrNotAvailable => ErrorKind::InvalidArgs,
        _ => ErrorKind::Internal,
    }
}

/// A server that listens, and does not answer yet.
pub struct Server {
    listener: TcpListener,
    service: Service,
    pages: Pages,
    agent: Option<Agent>,
    address: SocketAddr,
    url: String,
    token: String,
    link: String,
}

impl Server {
    /// Listens, for the sessions that `pages` show. Creates the folder of the state if it does not exist.
    ///
    /// # Errors
    /// [`StartError`] says what is in the way.
    pub async fn bind(pages: Pages, options: Options) -> Result<Self, StartError> {
        let Options { listen, public_url, state } = options;
        if let Some(url) = &public_url
            && (url.scheme().is_none() || url.authority().is_none())
        {
            return Err(StartError::PublicUrl(url.clone()));
        }
        let failed = |path: &PathBuf| {
            let path = path.clone();
            move |source| StartError::State { path, source }
        };
        std::fs::create_dir_all(&state).map_err(failed(&state))?;
        let log = state.join("audit.jsonl");
        let audit = Audit::open(&log).map_err(failed(&log))?;
        let listening = |source| StartError::Listen { address: listen, source };
        let listener = TcpListener::bind(listen).await.map_err(listening)?;
        let address = listener.local_addr().map_err(listening)?;
        let hosts = Hosts::of(address, public_url.as_ref());
        let is_encrypted = public_url.as_ref().is_some_and(|url| url.scheme_str() == Some("https"));
        let token = access::token::secret()?;
        let own = Caller { name: "serve".to_owned(), scope: Scope::Admin };
        let own = (access::token::hash(&token), own);
        let tokens = TokenFile::at(state.join("tokens.json"));
        let service =
            Service::new(pages.engine.clone(), (hosts, is_encrypted), (tokens, own), audit);
        let url = match public_url {
            Some(url) => url.to_string().trim_end_matches('/').to_owned(),
            None => format!("http://{address}"),
        };
        let link = format!("{url}/#login={}", service.logins.link("serve")?);
        let agent = None;
        Ok(Self { listener, service, pages, agent, address, url, token, link })
    }

    /// Lets those who may write talk to an agent, whose tools run as the user of this server.
    #[must_use]
    pub fn chatting(self, agent: Agent) -> Self {
        Self { agent: Some(agent), ..self }
    }

    /// Returns the address that the server listens at.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL of the server.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns a token with the scope [`Scope::Admin`], which is valid until the server ends.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Returns a link that logs one browser in, once.
    #[must_use]
    pub fn link(&self) -> &str {
        &self.link
    }

    /// Answers requests until `stop` is ready. Then ends the streams, and waits a while for the
    /// requests that are being answered.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let pages = Pages { has_chat: self.agent.is_some(), ..self.pages };
        let chat = Chat::new(self.agent, pages.clone());
        let router = routes::router(&self.service, pages, &chat);
        let talks = chat.clone();
        let (stopping, agents) = (self.service.stopping.clone(), self.service.agents.clone());
        let stop = async move {
            stop.await;
            stopping.send_replace(true);
            agents.stop();
            talks.stop();
        };
        connection::serve(self.listener, router, stop).await;
        chat.close().await;
    }
}

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
mod tenants;
mod threads;
mod tls;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forklore::{Engine, OpenError};
use forklore_api::Scope;
use forklore_core::ErrorKind;
use forklore_remote::Dispatcher;
use forklore_web_chat::Chat;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use access::Caller;
use access::hosts::Hosts;
use audit::Audit;
use service::Service;
use tenants::Tenants;

#[cfg(feature = "schema")]
pub use api::{ROUTES, openapi};

pub use axum::http::Uri;

pub use access::token::{TokenError, TokenFile};
pub use forklore_web::{Files, Pages};
pub use forklore_web_chat::Agent;
pub use problem::Problem;
pub use tls::{Certificate, CertificateError};

/// How often the pins of clients that are gone are dropped.
const CLEANING: Duration = Duration::from_secs(60);

/// How a server listens, and where its state is.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address to listen at. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// The URL under which others reach the server, for example behind a proxy that encrypts.
    pub public_url: Option<Uri>,
    /// The folder of the tokens and the log of writes.
    pub state: PathBuf,
    /// The certificate with which connections are encrypted. Without one, they are plain HTTP.
    pub certificate: Option<Certificate>,
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
    /// The certificate cannot be used.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
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
            Self::Certificate(error) => error.kind(),
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
    tls: Option<TlsAcceptor>,
    open_tenant: Option<Arc<tenants::Open>>,
}

impl Server {
    /// Listens, for the sessions that `pages` show. Creates the folder of the state if it does not exist.
    ///
    /// # Errors
    /// [`StartError`] says what is in the way.
    pub async fn bind(pages: Pages, options: Options) -> Result<Self, StartError> {
        let Options { listen, public_url, state, certificate } = options;
        let tls = certificate.map(tls::acceptor).transpose()?;
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
        let scheme = if tls.is_some() { "https" } else { "http" };
        let hosts = Hosts::of(scheme, address, public_url.as_ref());
        let is_encrypted = tls.is_some()
            || public_url.as_ref().is_some_and(|url| url.scheme_str() == Some("https"));
        let token = access::token::secret()?;
        let own = Caller { name: "serve".to_owned(), scope: Scope::Admin, tenant: None };
        let own = (access::token::hash(&token), own);
        let tokens = TokenFile::at(state.join("tokens.json"));
        let service = Service::new(
            pages.engine.clone(),
            (hosts, is_encrypted),
            (tokens, own),
            (audit, &state),
        );
        let url = match public_url {
            Some(url) => url.to_string().trim_end_matches('/').to_owned(),
            None => format!("{scheme}://{address}"),
        };
        let link = format!("{url}/#login={}", service.logins.link("serve")?);
        let (open_tenant, agent) = (None, None);
        Ok(Self { listener, service, pages, agent, address, url, token, link, tls, open_tenant })
    }

    /// Lets tokens name a tenant, whose store this function opens.
    #[must_use]
    pub fn with_tenants(
        mut self,
        open: impl Fn(&str) -> Result<Engine, OpenError> + Send + Sync + 'static,
    ) -> Self {
        self.open_tenant = Some(Arc::new(open));
        self
    }

    /// Lets those who may write talk to an agent, whose tools run as the user of this server. Callers
    /// who see a tenant have no agent.
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
        let Self { listener, service, pages, tls, open_tenant, agent, .. } = self;
        let tenants =
            Arc::new(Tenants::new(open_tenant, routes::of_tenant, service.clone(), pages.clone()));
        let pages = Pages { has_chat: agent.is_some(), ..pages };
        let chat = Chat::new(agent, pages.clone());
        let router = routes::router(&service, pages, &chat, &tenants);
        let cleaning = tokio::spawn(clean(service.dispatcher.clone()));
        let talks = chat.clone();
        let stop = async move {
            stop.await;
            service.stopping.send_replace(true);
            service.agents.stop();
            tenants.stop();
            talks.stop();
            cleaning.abort();
        };
        connection::serve(listener, router, tls, stop).await;
        chat.close().await;
    }
}

/// Drops the pins of clients that are gone, again and again.
async fn clean(dispatcher: Arc<Dispatcher>) {
    let mut clock = tokio::time::interval(CLEANING);
    loop {
        clock.tick().await;
        let dispatcher = dispatcher.clone();
        let _ = tokio::task::spawn_blocking(move || dispatcher.drop_old_pins()).await;
    }
}

//! The server as a tower service, for a web server.

use std::io;
use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::McpServer;

/// The most connections that a service has at once. Those of clients that went away without a word are
/// among them: they end after 5 minutes without a message.
const MOST_CONNECTIONS: usize = 1_000;

/// A tower service that answers requests of MCP clients (streamable HTTP).
pub type HttpService = StreamableHttpService<McpServer, LocalSessionManager>;

/// The settings of an [`HttpService`].
#[derive(Clone, Debug, Default)]
pub struct HttpOptions {
    /// The values of `Host` that are accepted, as `HOST` or `HOST:PORT`. `None` accepts loopback
    /// only. An empty list accepts all: only for a web server that checks `Host` itself.
    pub hosts: Option<Vec<String>>,
    /// The values of `Origin` that are accepted, as `SCHEME://HOST:PORT`. With an empty list, a
    /// request with any `Origin` is refused, because browsers send it from pages of others.
    pub origins: Vec<String>,
    /// Ends all connections when it is cancelled.
    pub shutdown: CancellationToken,
}

/// Returns the tower service for the path of the endpoint, such as `/mcp`. Each client gets its own
/// [connection](McpServer::for_connection), of which there are at most 1,000 at once. The service
/// authenticates nobody: whoever has the id of a connection may use it.
///
/// Clients of 2026-07-28 are served without sessions; older ones get an `Mcp-Session-Id`.
#[must_use]
pub fn http_service(server: McpServer, options: HttpOptions) -> HttpService {
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(options.origins)
        .enforce_origin_validation()
        .with_cancellation_token(options.shutdown);
    let config = match options.hosts {
        None => config,
        Some(hosts) if hosts.is_empty() => config.disable_allowed_hosts(),
        Some(hosts) => config.with_allowed_hosts(hosts),
    };
    let sessions = Arc::new(LocalSessionManager::default());
    let open = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let connection = move || match Arc::clone(&open).try_acquire_owned() {
        Ok(permit) => Ok(server.counted(permit)),
        Err(_) => Err(io::Error::other("too many connections; end some, or wait 5 minutes")),
    };
    StreamableHttpService::new(connection, sessions, config)
}

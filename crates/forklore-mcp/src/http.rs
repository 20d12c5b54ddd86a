//! The server as a tower service, for a web server.

use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use crate::McpServer;

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
/// [connection](McpServer::for_connection). The service authenticates nobody.
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
    StreamableHttpService::new(move || Ok(server.for_connection()), sessions, config)
}

//! The endpoint for agents (MCP over streamable HTTP). What it may change depends on the token.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use forklore::Engine;
use forklore_api::Scope;
use forklore_mcp::{Allow, HttpOptions, HttpService, McpServer, Options, http_service};
use tokio_util::sync::CancellationToken;

use crate::access::Caller;

/// The endpoints for callers: those who may only read, and those who may also fork, bring and label.
#[derive(Clone)]
pub(crate) struct Agents {
    server: McpServer,
    /// By the name of the caller, and whether it may write. Each endpoint knows the connections of its
    /// caller only, so nobody can use those of another.
    endpoints: Arc<Mutex<HashMap<(String, bool), HttpService>>>,
    stop: CancellationToken,
}

impl Agents {
    pub(crate) fn new(engine: &Engine) -> Self {
        let engine = engine.clone().with_program("forklore serve");
        let server = McpServer::new(engine, Options::default());
        Self { server, endpoints: Arc::default(), stop: CancellationToken::new() }
    }

    /// Answers a request of an agent.
    pub(crate) async fn answer(&self, caller: &Caller, mut request: Request) -> Response {
        // The guard has checked it against the names of this server.
        request.headers_mut().remove(axum::http::header::ORIGIN);
        self.endpoint(caller).handle(request).await.map(Body::new)
    }

    fn endpoint(&self, caller: &Caller) -> HttpService {
        let may_write = caller.scope >= Scope::Write;
        let mut endpoints = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        let endpoint = endpoints.entry((caller.name.clone(), may_write)).or_insert_with(|| {
            let allow = if may_write { Allow::ALL.into_iter().collect() } else { <_>::default() };
            let options = Options { allow, ..Options::default() };
            // The guard has compared Host and Origin, and who asks.
            let (hosts, shutdown) = (Some(Vec::new()), self.stop.clone());
            let http = HttpOptions { hosts, shutdown, ..HttpOptions::default() };
            http_service(self.server.on_behalf_of(&caller.name, options), http)
        });
        endpoint.clone()
    }

    /// Ends the connections of agents.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }
}

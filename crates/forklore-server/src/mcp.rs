//! The endpoint for agents (MCP over streamable HTTP). What it may change depends on the token.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use forklore::Engine;
use forklore_api::Scope;
use forklore_mcp::{Allow, HttpOptions, HttpService, McpServer, Options, http_service};
use tokio_util::sync::CancellationToken;

use crate::access::Caller;

/// The endpoint for those who may only read, and for those who may also fork, bring and label.
#[derive(Clone)]
pub(crate) struct Agents {
    reading: HttpService,
    writing: HttpService,
    stop: Arc<CancellationToken>,
}

impl Agents {
    pub(crate) fn new(engine: &Engine) -> Self {
        let stop = CancellationToken::new();
        let with = |options: Options| {
            let engine = engine.clone().with_program("forklore serve");
            // The guard has compared Host and Origin, and who asks.
            let http =
                HttpOptions { hosts: Some(Vec::new()), shutdown: stop.clone(), ..<_>::default() };
            http_service(McpServer::new(engine, options), http)
        };
        let reading = with(Options::default());
        let writing = with(Options { allow: Allow::ALL.into_iter().collect(), ..<_>::default() });
        Self { reading, writing, stop: Arc::new(stop) }
    }

    /// Answers a request of an agent.
    pub(crate) async fn answer(&self, caller: &Caller, mut request: Request) -> Response {
        let endpoint = if caller.scope >= Scope::Write { &self.writing } else { &self.reading };
        // The guard has checked it against the names of this server.
        request.headers_mut().remove(axum::http::header::ORIGIN);
        endpoint.handle(request).await.map(Body::new)
    }

    /// Ends the connections of agents.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }
}

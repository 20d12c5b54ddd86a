//! The server, answer over HTTP by a real client.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod access;
mod api;
mod chat;
mod hostile;
mod live;
mod mcp;
mod openapi;
mod outage;
mod routes;
mod schemathesis;
mod store;
mod tenants;
mod tls;

use std::path::PathBuf;

use forklore::{Engine, OpenError};
use forklore_server::{Agent, Certificate, Options, Pages, Server};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A server on a store of its own, with a client that has its token.
struct Running {
    folder: TempDir,
    url: String,
    token: String,
    link: String,
    client: Client,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Running {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::on(folder, "127.0.0.1:0").await
    }

    async fn on(folder: TempDir, listen: &str) -> Self {
        Self::with(folder, listen, None).await
    }

    async fn with(folder: TempDir, listen: &str, certificate: Option<Certificate>) -> Self {
        let url = format!("sqlite:{}", folder.path().join("s.db").display());
        let engine: Engine = forklore::blocking::open(&url).unwrap();
        let server = bind(engine, &folder, listen, certificate).await;
        Self::run(folder, server)
    }

    /// Starts a server with the agent that `agent` makes.
    async fn chatting(folder: TempDir, agent: impl FnOnce(&Engine) -> Agent) -> Self {
        let url = format!("sqlite:{}", folder.path().join("s.db").display());
        let engine: Engine = forklore::blocking::open(&url).unwrap();
        let agent = agent(&engine);
        let server = bind(engine, &folder, "127.0.0.1:0", None).await;
        Self::run(folder, server.chatting(agent))
    }

    /// Starts a server on this store, which opens those of tenants.
    async fn of(
        engine: Engine,
        open: impl Fn(&str) -> Result<Engine, OpenError> + Send + Sync + 'static,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = bind(engine, &folder, "127.0.0.1:0", None).await;
        Self::run(folder, server.with_tenants(open))
    }

    fn run(folder: TempDir, server: Server) -> Self {
        let (url, token) = (server.url().to_owned(), server.token().to_owned());
        let link = server.link().to_owned();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(server.run(async {
            let _ = stopped.await;
        }));
        // reqwest wants one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().build().unwrap();
        Self { folder, url, token, link, client, stop: Some(stop), task }
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// A request to a path under `/api/v1`, with the token.
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.bare(method, &format!("/api/v1{path}")).bearer_auth(&self.token)
    }

    /// A request without a token.
    fn bare(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url))
    }

    async fn get(&self, path: &str) -> Value {
        json(self.request(Method::GET, path).send().await.unwrap(), StatusCode::OK).await
    }

    async fn post(&self, path: &str, body: &Value) -> Response {
        send(self.request(Method::POST, path), body).await
    }

    /// Creates a session.
    async fn create(&self, id: &str) -> Value {
        let body = serde_json::json!({ "id": id, "workspace": "/work/demo" });
        json(self.post("/sessions", &body).await, StatusCode::CREATED).await
    }

    /// Appends a message of a user.
    async fn say(&self, id: &str, text: &str) -> Value {
        let event = serde_json::json!({ "type": "user_message", "data": { "content": text } });
        let body = serde_json::json!({ "events": [event] });
        let sent = self.post(&format!("/sessions/{id}/events"), &body).await;
        json(sent, StatusCode::CREATED).await
    }

    /// Stops the server and waits for its end.
    async fn stop(mut self) -> TempDir {
        drop(self.stop.take());
        self.task.await.unwrap();
        self.folder
    }
}

async fn bind(
    engine: Engine,
    folder: &TempDir,
    listen: &str,
    certificate: Option<Certificate>,
) -> Server {
    let options = Options {
        listen: listen.parse().unwrap(),
        public_url: None,
        state: folder.path().join("state"),
        certificate,
    };
    Server::bind(Pages::new(engine), options).await.unwrap()
}

/// Sends a JSON body.
async fn send(request: RequestBuilder, body: &Value) -> Response {
    let request = request.header("content-type", "application/json");
    request.body(body.to_string()).send().await.unwrap()
}

/// Returns the JSON of an answer that has this status.
async fn json(response: Response, status: StatusCode) -> Value {
    let found = response.status();
    let text = response.text().await.unwrap();
    assert_eq!(found, status, "{text}");
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text:?}"))
}

/// Returns the problem of an answer, after comparing its status and kind.
async fn problem(response: Response, status: u16, kind: &str) -> Value {
    let media = response.headers()["content-type"].clone();
    let problem = json(response, StatusCode::from_u16(status).unwrap()).await;
    assert_eq!(media, "application/problem+json");
    assert_eq!(problem["kind"], kind, "{problem}");
    problem
}

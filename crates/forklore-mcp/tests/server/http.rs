//! The tower service: who is served, and who is refused.

use bytes::Bytes;
use forklore_core::workspace::Workspace;
use forklore_mcp::{HttpOptions, HttpService, McpServer, Options, http_service};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::json;

use crate::world::{FOLDER, with_a_plan};

fn service(options: HttpOptions) -> HttpService {
    let folder = Options { workspace: Some(Workspace::new(FOLDER)), ..Options::default() };
    http_service(McpServer::new(with_a_plan(), folder), options)
}

/// A request with which a client of 2025-11-25 begins, with this header added.
fn hello(header: &str, value: &str) -> Request<Full<Bytes>> {
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let mut request = Request::post("/mcp")
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("host", "127.0.0.1:8931");
    request.headers_mut().unwrap().remove(header);
    request.header(header, value).body(Full::from(body.to_string())).unwrap()
}

#[tokio::test]
async fn a_client_on_this_machine_gets_a_connection_of_its_own() {
    let service = service(HttpOptions::default());
    let mut ids = Vec::new();
    for _ in 0..2 {
        let response = service.handle(hello("host", "localhost")).await;
        assert_eq!(response.status(), StatusCode::OK);
        ids.push(response.headers()["mcp-session-id"].clone());
    }
    assert_ne!(ids[0], ids[1]);
}

#[tokio::test]
async fn connections_that_nobody_ends_leave_no_more_than_a_thousand() {
    let service = service(HttpOptions::default());
    let mut ids = Vec::new();
    for _ in 0..1_000 {
        let response = service.handle(hello("host", "localhost")).await;
        assert_eq!(response.status(), StatusCode::OK);
        ids.push(response.headers()["mcp-session-id"].clone());
    }
    let refused = service.handle(hello("host", "localhost")).await;
    assert_eq!(refused.status(), StatusCode::INTERNAL_SERVER_ERROR);
    let body = refused.into_body().collect().await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&body).contains("too many connections"), "{body:?}");
    let end = Request::delete("/mcp").header("host", "localhost");
    let end = end.header("mcp-session-id", ids[0].clone()).body(Full::<Bytes>::default());
    assert!(service.handle(end.unwrap()).await.status().is_success());
    // The connection ends soon after its end was asked for.
    while service.handle(hello("host", "localhost")).await.status() != StatusCode::OK {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn pages_of_others_and_other_hosts_are_refused_unless_they_are_named() {
    let closed = service(HttpOptions::default());
    let open = service(HttpOptions {
        hosts: Some(vec!["example.org".to_owned()]),
        origins: vec!["https://example.org:443".to_owned()],
        ..HttpOptions::default()
    });
    let host = || hello("host", "example.org");
    assert_eq!(closed.handle(host()).await.status(), StatusCode::FORBIDDEN);
    assert_eq!(open.handle(host()).await.status(), StatusCode::OK);
    let any = service(HttpOptions { hosts: Some(Vec::new()), ..HttpOptions::default() });
    assert_eq!(any.handle(host()).await.status(), StatusCode::OK);
    let page = || {
        let mut request = hello("origin", "https://example.org");
        request.headers_mut().insert("host", "example.org".parse().unwrap());
        request
    };
    assert_eq!(any.handle(page()).await.status(), StatusCode::FORBIDDEN);
    assert_eq!(open.handle(page()).await.status(), StatusCode::OK);
}

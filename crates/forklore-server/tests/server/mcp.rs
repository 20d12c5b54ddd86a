//! The endpoint for agents, as clients use it that nobody should trust.

use forklore_api::Scope;
use forklore_server::TokenFile;
use jiff::Timestamp;
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::Running;

/// A client with a token, and with the connection that it opened.
struct Agent<'a> {
    server: &'a Running,
    token: String,
    connection: String,
}

impl Running {
    fn token_of(&self, name: &str, scope: Scope) -> String {
        let file = TokenFile::at(self.state().join("tokens.json"));
        file.add(name, scope, Timestamp::now(), None).unwrap().1
    }

    async fn agent(&self, token: &str) -> Agent<'_> {
        let mut agent = Agent { server: self, token: token.to_owned(), connection: String::new() };
        let us = json!({ "name": "test", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": us });
        let begun = agent.ask("initialize", &params).await;
        assert_eq!(begun.status(), 200);
        agent.connection = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(agent.send(Method::POST, begun.to_string()).await.status(), 202);
        agent
    }
}

impl Agent<'_> {
    /// Sends a request to the endpoint, on the connection.
    async fn send(&self, method: Method, body: impl Into<reqwest::Body>) -> Response {
        let request = self.server.bare(method, "/mcp").bearer_auth(&self.token);
        let request = request
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json");
        let request = match self.connection.as_str() {
            "" => request,
            connection => request.header("mcp-session-id", connection),
        };
        request.body(body).send().await.unwrap()
    }

    async fn ask(&self, method: &str, params: &Value) -> Response {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        self.send(Method::POST, body.to_string()).await
    }

    /// Returns the answer to a request: its result, or its error.
    async fn answer(&self, method: &str, params: &Value) -> Value {
        let response = self.ask(method, params).await;
        let (status, text) = (response.status(), response.text().await.unwrap());
        let datas = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let mut answers = datas.filter_map(|data| serde_json::from_str::<Value>(data).ok());
        let last = answers.next_back().unwrap_or_else(|| panic!("{status}: {text}"));
        assert_eq!(last["id"], 7, "{last}");
        last
    }

    /// Calls a tool, and returns its result.
    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.answer("tools/call", &params).await["result"].take()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_uses_the_connection_of_another() {
    let server = Running::start().await;
    server.create("plan").await;
    let ann = server.agent(&server.token_of("ann", Scope::Read)).await;
    for (name, scope) in [("bob", Scope::Read), ("eve", Scope::Admin)] {
        let other = Agent {
            token: server.token_of(name, scope),
            connection: ann.connection.clone(),
            ..ann
        };
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
        for (method, body) in
            [(Method::POST, ping), (Method::GET, String::new()), (Method::DELETE, String::new())]
        {
            let status = other.send(method.clone(), body).await.status();
            // To end what is not there is no error.
            let expected = if method == Method::DELETE { 202 } else { 404 };
            assert_eq!(status, expected, "{name} {method}");
        }
    }
    let found = ann.call("list_sessions", json!({})).await;
    assert_eq!(found["structuredContent"]["sessions"][0]["session_id"], "plan", "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_reads_changes_nothing_and_who_changes_is_recorded() {
    let server = Running::start().await;
    server.create("plan").await;
    server.say("plan", "A or B?").await;
    let reader = server.agent(&server.token_of("reader", Scope::Read)).await;
    let tools = reader.answer("tools/list", &json!({})).await;
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 9, "{tools}");
    for (tool, arguments) in [
        ("fork", json!({ "session": "plan" })),
        ("bring", json!({ "from": "plan", "into": "plan" })),
        ("label", json!({ "session": "plan", "label": "mine" })),
    ] {
        let refused = reader.call(tool, arguments).await;
        let text = refused["content"][0]["text"].as_str().unwrap();
        let refused: Value = serde_json::from_str(text).unwrap();
        assert_eq!(refused["error"]["kind"], "permission_denied", "{tool}: {refused}");
    }
    assert_eq!(server.get("/sessions").await["sessions"].as_array().unwrap().len(), 1);
    let writer = server.agent(&server.token_of("writer", Scope::Write)).await;
    let labelled = writer.call("label", json!({ "session": "plan", "label": "mine" })).await;
    assert_eq!(labelled["structuredContent"]["session"]["label"], "mine", "{labelled}");
    let newest = &server.get("/operations").await["operations"][0];
    assert_eq!(
        (&newest["principal"], &newest["program"]),
        (&json!("writer"), &json!("forklore serve")),
        "{newest}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_nobody_should_send_are_refused_and_the_connection_goes_on() {
    let server = Running::start().await;
    server.create("plan").await;
    let agent = server.agent(&server.token_of("eve", Scope::Write)).await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let call =
        |text: &str| format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{text}}}"#);
    let mut statuses = Vec::new();
    for (what, body) in [
        ("nothing", Vec::new()),
        ("half of a message", br#"{"jsonrpc":"2.0","id":1,"#.to_vec()),
        ("no UTF-8", b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}".to_vec()),
        ("an array", b"[]".to_vec()),
        ("a batch", br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#.to_vec()),
        ("another version", br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#.to_vec()),
        ("no method", br#"{"jsonrpc":"2.0","id":1}"#.to_vec()),
        ("depth", deep.clone().into_bytes()),
        (
            "depth in arguments",
            call(&format!(r#"{{"name":"search","arguments":{{"query":{deep}}}}}"#)).into_bytes(),
        ),
        (
            "size",
            call(&format!(
                r#"{{"name":"search","arguments":{{"query":"{}"}}}}"#,
                "x".repeat(5 << 20)
            ))
            .into_bytes(),
        ),
    ] {
        let refused = agent.send(Method::POST, body).await;
        statuses.push(format!("{what}: {}", refused.status().as_u16()));
    }
    let (last, others) = statuses.split_last().unwrap();
    assert_eq!(last, "size: 413");
    assert!(others.iter().all(|status| status.ends_with(": 415")), "{others:?}");
    for method in ["delete", "tools/delete", "sessions/erase", "__proto__", "", "\u{202e}"] {
        let refused = agent.answer(method, &json!({})).await;
        assert_eq!(refused["error"]["code"], -32601, "{method:?}: {refused}");
    }
    let refused = agent.answer("tools/call", &json!({ "name": "delete\u{1b}[2J" })).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert!(!refused.to_string().contains("\\u001b"), "{refused}");
    // What was never asked, or is answered, is not there to be cancelled.
    for id in [json!(7), json!("x"), json!(null), json!(-1)] {
        let params = json!({ "requestId": id, "reason": "\u{1b}[31m" });
        let cancel =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        agent.send(Method::POST, cancel.to_string()).await;
    }
    let found = agent.call("list_sessions", json!({})).await;
    assert_eq!(found["structuredContent"]["sessions"][0]["session_id"], "plan", "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_in_a_call_leaves_whole_forks() {
    use tokio::io::AsyncWriteExt as _;
    let server = Running::start().await;
    server.create("plan").await;
    server.say("plan", "A or B?").await;
    let agent = server.agent(&server.token_of("eve", Scope::Write)).await;
    let host = server.url.strip_prefix("http://").unwrap();
    for count in 100..120 {
        let params = json!({ "name": "fork", "arguments": { "session": "plan", "label": format!("b{count}") } });
        let body =
            json!({ "jsonrpc": "2.0", "id": count, "method": "tools/call", "params": params })
                .to_string();
        let length = body.len();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nMcp-Session-Id: {}\r\n\
             Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}",
            agent.token, agent.connection
        );
        let mut stream = tokio::net::TcpStream::connect(host).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        // Gone, before the answer.
        drop(stream);
    }
    let forked = agent.call("fork", json!({ "session": "plan", "label": "final" })).await;
    let last = forked["structuredContent"]["session_id"].as_str().unwrap().to_owned();
    let listed = server.get("/sessions").await;
    for session in listed["sessions"].as_array().unwrap() {
        let path = format!("/sessions/{}/events", session["id"].as_str().unwrap());
        // A fork has the message, and says that it is one.
        let whole = if session["id"] == "plan" { 1 } else { 2 };
        let events = server.get(&path).await["events"].as_array().unwrap().len();
        assert_eq!(events, whole, "{session}");
    }
    server.say(&last, "goes on").await;
}

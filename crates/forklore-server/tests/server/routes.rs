//! What the command line does with sessions, as routes: imports, exports, graphs, and what looks after the
//! store.

use forklore_api::Scope;
use forklore_server::TokenFile;
use jiff::Timestamp;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{Running, json as answer, problem};

const CLAUDE: &str = concat!(
    r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"8f14e45f-ceea-467f-a0e6-e5b1a1f0c9d1","#,
    r#""cwd":"/work/demo","timestamp":"2026-01-02T03:04:05Z","message":{"role":"user","content":"plan A?"}}"#,
    "\n",
);
const MORE: &str = concat!(
    r#"{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"8f14e45f-ceea-467f-a0e6-e5b1a1f0c9d1","#,
    r#""timestamp":"2026-01-02T03:04:06Z","message":{"role":"assistant","content":[{"type":"text","text":"B"}]}}"#,
    "\n",
);

impl Running {
    async fn import(&self, query: &str, body: impl Into<reqwest::Body>) -> reqwest::Response {
        let request = self.request(Method::POST, &format!("/imports{query}"));
        request.header("content-type", "application/octet-stream").body(body).send().await.unwrap()
    }

    fn tokens(&self) -> TokenFile {
        TokenFile::at(self.state().join("tokens.json"))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_file_is_imported_and_read_on() {
    let server = Running::start().await;
    let name = "?name=8f14e45f-ceea-467f-a0e6-e5b1a1f0c9d1.jsonl";
    let plan = answer(server.import(&format!("{name}&dry_run=true"), CLAUDE).await, StatusCode::OK);
    let plan = plan.await;
    assert_eq!(plan["sessions"][0]["events"], 1, "{plan}");
    assert_eq!(server.get("/sessions").await["sessions"], json!([]));

    let first = answer(server.import(name, CLAUDE).await, StatusCode::CREATED).await;
    assert_eq!(first["sessions"][0]["dialect"], "claude", "{first}");
    let id = first["sessions"][0]["session_id"].as_str().unwrap().to_owned();
    // Its continuation is read on, and the whole file again adds nothing.
    let both = format!("{CLAUDE}{MORE}");
    let second = answer(server.import(name, both.clone()).await, StatusCode::CREATED).await;
    assert_eq!(second["sessions"][0]["session_id"], json!(id), "{second}");
    assert_eq!(second["sessions"][0]["appended"], 1, "{second}");
    let third = answer(server.import(name, both.clone()).await, StatusCode::OK).await;
    assert_eq!(third["sessions"][0]["appended"], 0, "{third}");
    assert_eq!(server.get("/sessions").await["sessions"].as_array().unwrap().len(), 1);
    let file = server.request(Method::GET, &format!("/sessions/{id}/file")).send().await.unwrap();
    assert_eq!(file.text().await.unwrap(), both);
    // Nothing of the uploads stays on the disk.
    let left: Vec<_> = std::fs::read_dir(server.state().join("imports"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["lock"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_is_no_session_is_refused_and_never_leads_to_a_file_of_the_server() {
    let server = Running::start().await;
    for body in [&b""[..], b"\0\x01\x02", b"{\"hello\": 1}\n", b"SQLite format 3\0"] {
        problem(server.import("", body.to_vec()).await, 400, "invalid_args").await;
    }
    for name in ["../tokens.json", "/etc/passwd", "a%2Fb.jsonl", "a%00b", "", ".hidden", "a%5Cb"] {
        let refused = server.import(&format!("?name={name}"), CLAUDE).await;
        problem(refused, 400, "invalid_args").await;
    }
    problem(server.import("?dialect=none", CLAUDE).await, 400, "invalid_args").await;
    let (_, reader) = server.tokens().add("r", Scope::Read, Timestamp::now(), None).unwrap();
    let refused = server.bare(Method::POST, "/api/v1/imports").bearer_auth(reader).body(CLAUDE);
    problem(refused.send().await.unwrap(), 403, "permission_denied").await;
    assert_eq!(server.get("/sessions").await["sessions"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_leaves_in_a_format_and_the_command_is_named() {
    let server = Running::start().await;
    server.create("plan").await;
    server.say("plan", "which <b>parser</b>?").await;
    let export = async |query: &str| {
        let path = format!("/sessions/plan/export?{query}");
        server.request(Method::GET, &path).send().await.unwrap()
    };
    let plain = export("to=plain").await;
    assert_eq!(plain.headers()["content-disposition"], "attachment");
    let line: Value = serde_json::from_str(&plain.text().await.unwrap()).unwrap();
    assert_eq!(line["content"], "which <b>parser</b>?");
    let page = export("to=html").await;
    assert_eq!(page.headers()["content-type"], "application/octet-stream");
    assert!(page.text().await.unwrap().contains("&lt;b&gt;parser"));
    let claude = export("to=claude&at=end").await.text().await.unwrap();
    assert!(claude.contains("parser"), "{claude}");
    problem(export("to=none").await, 422, "unsupported").await;
    problem(export("to=plain&at=turn:9").await, 400, "invalid_args").await;
    let command_of = server.get("/sessions/plan/resume-in?agent=claude").await;
    let command = json!(["forklore", "resume-in", "claude", "plan"]);
    assert_eq!(command_of, json!({ "session_id": "plan", "agent": "claude", "command": command }));
    let wrong = server.request(Method::GET, "/sessions/plan/resume-in?agent=none");
    problem(wrong.send().await.unwrap(), 422, "unsupported").await;
}

#[cfg(feature = "graph")]
#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_a_graph_that_answers_bounded_queries() {
    let server = Running::start().await;
    server.create("plan").await;
    server.say("plan", "one").await;
    server.say("plan", "two").await;
    let graph = server.request(Method::GET, "/graph?session=plan&format=nquads");
    let graph = graph.send().await.unwrap();
    assert_eq!(graph.headers()["content-type"], "application/n-quads");
    assert!(graph.text().await.unwrap().contains("\"two\""));
    let ask = async |more: Value| {
        let mut body = json!({
            "query": "SELECT ?text { ?m fl:text ?text } ORDER BY ?text",
            "scope": "everything",
        });
        let body = {
            let fields = body.as_object_mut().unwrap();
            fields.extend(more.as_object().unwrap().clone());
            json!(fields)
        };
        server.post("/sparql", &body).await
    };
    let rows = answer(ask(json!({})).await, StatusCode::OK).await;
    let rows = rows["results"]["bindings"].as_array().unwrap();
    let texts: Vec<_> = rows.iter().map(|row| row["text"]["value"].clone()).collect();
    assert_eq!(texts, ["one", "two"]);
    let cut = answer(ask(json!({ "limit": 1 })).await, StatusCode::OK).await;
    assert_eq!(cut["truncated"], true, "{cut}");
    for wrong in [
        json!({ "limit": 0 }),
        json!({ "limit": 10_001 }),
        json!({ "timeout_seconds": 31 }),
        json!({ "timeout_seconds": -1 }),
        json!({ "query": "SELECT" }),
        json!({ "more": 1 }),
    ] {
        problem(ask(wrong).await, 400, "invalid_args").await;
    }
    problem(ask(json!({ "timeout_seconds": 0 })).await, 423, "busy").await;
    let service = "SELECT * { SERVICE <http://127.0.0.1:1/> { ?a ?b ?c } }";
    problem(ask(json!({ "query": service })).await, 403, "permission_denied").await;
    let words = server.get("/vocabulary/ontology").await;
    assert!(words["turtle"].as_str().unwrap().contains("@prefix"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_erases_needs_an_administrator() {
    let server = Running::start().await;
    server.create("plan").await;
    server.say("plan", "the key is sk-1234").await;
    let (_, writer) = server.tokens().add("w", Scope::Write, Timestamp::now(), None).unwrap();
    let redact = json!({ "session_ids": ["plan"], "match": "sk-1234", "reason": "a key" });
    let mut plan = redact.clone();
    plan["dry_run"] = json!(true);
    let write = async |path: &str, body: &Value| {
        let request = server.bare(Method::POST, &format!("/api/v1{path}")).bearer_auth(&writer);
        crate::send(request, body).await
    };
    let refused = [
        ("/redactions", redact.clone()),
        ("/gc", json!({})),
        ("/retention", json!({})),
        ("/pack", json!({})),
    ];
    for (path, body) in &refused {
        problem(write(path, body).await, 403, "permission_denied").await;
    }
    let planned = answer(write("/redactions", &plan).await, StatusCode::OK).await;
    assert_eq!(planned["events"].as_array().unwrap().len(), 1, "{planned}");
    assert!(
        answer(write("/retention", &json!({ "dry_run": true })).await, StatusCode::OK).await["dry_run"]
            == true
    );
    let redacted = answer(server.post("/redactions", &redact).await, StatusCode::OK).await;
    assert_eq!(redacted["events"][0]["session_id"], "plan", "{redacted}");
    let events = server.get("/sessions/plan/events").await;
    assert!(!events.to_string().contains("sk-1234"), "{events}");
    for (path, body) in &refused[1..] {
        answer(server.post(path, body).await, StatusCode::OK).await;
    }
    let sound = server.get("/verification").await;
    assert_eq!(sound["problems"], json!([]), "{sound}");
    assert_eq!(server.get("/sessions/plan/verification").await["problems"], json!([]));
    let sample = server.post("/verification/sample", &json!({ "size": { "sessions": 1 } })).await;
    answer(sample, StatusCode::OK).await;
}

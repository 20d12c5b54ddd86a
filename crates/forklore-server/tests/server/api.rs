//! Sessions as resources.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{Running, json as answer, problem, send};

fn contents(page: &Value) -> Vec<&str> {
    let events = page["events"].as_array().unwrap().iter();
    events.filter_map(|event| event["data"]["content"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_that_is_overtaken_learns_the_head() {
    let server = Running::start().await;
    server.create("plan").await;
    server.say("plan", "one").await;
    let shown = server.request(Method::GET, "/sessions/plan").send().await.unwrap();
    let tag = shown.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(tag, "\"0\"");
    let event = json!({ "type": "user_message", "data": { "content": "two" } });
    let append = |tag: &str| {
        let request = server.request(Method::POST, "/sessions/plan/events").header("if-match", tag);
        let body = json!({ "events": [event] });
        async move { send(request, &body).await }
    };
    let done = append(&tag).await;
    assert_eq!(done.headers()["etag"], "\"1\"");
    assert_eq!(done.status(), 201);
    let refused = problem(append(&tag).await, 412, "conflict").await;
    assert_eq!(refused["details"]["head_seq"], 1, "{refused}");
    for wrong in ["0", "W/\"0\"", "\"x\"", ""] {
        problem(append(wrong).await, 412, "invalid_args").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_fork_is_the_same_child() {
    let server = Running::start().await;
    server.create("plan").await;
    server.say("plan", "one").await;
    server.say("plan", "two").await;
    let fork = |key: &str, body: Value| {
        let request = server.request(Method::POST, "/sessions/plan/forks");
        let request = request.header("idempotency-key", key);
        async move { send(request, &body).await }
    };
    let first = fork("child-1", json!({ "at": "turn:1", "label": "b" })).await;
    assert_eq!(first.headers()["location"], "/api/v1/sessions/child-1");
    let first = answer(first, StatusCode::CREATED).await;
    let again = fork("child-1", json!({ "at": "turn:1", "label": "b" })).await;
    let again = answer(again, StatusCode::CREATED).await;
    assert_eq!(first["child_session_id"], again["child_session_id"]);
    let other = fork("child-1", json!({ "at": "turn:2", "label": "b" })).await;
    problem(other, 409, "already_exists").await;
    problem(fork("a b", json!({})).await, 400, "invalid_args").await;
    problem(fork("child-2", json!({ "id": "child-3" })).await, 400, "invalid_args").await;
    let page = server.get("/sessions/child-1/events").await;
    assert_eq!(contents(&page), ["one"]);
    let tree = server.get("/sessions/plan/tree").await;
    assert_eq!(tree["trees"][0]["children"][0]["session_id"], "child-1", "{tree}");
}

#[tokio::test(flavor = "multi_thread")]
async fn payloads_come_back_as_they_were_written() {
    let server = Running::start().await;
    server.create("plan").await;
    let data = r#"{ "content" : "\u0000 \ud800 é 1e400", "n": 1.0e+2, "big": 123456789012345678901234567890 }"#;
    let body = format!(r#"{{"events":[{{"type":"user_message","data":{data}}}]}}"#);
    let request = server.request(Method::POST, "/sessions/plan/events");
    let sent = request.header("content-type", "application/json").body(body).send().await.unwrap();
    assert_eq!(sent.status(), 201);
    let read = server.request(Method::GET, "/sessions/plan/events").send().await.unwrap();
    let text = read.text().await.unwrap();
    assert!(text.contains(data), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_go_in_both_directions() {
    let server = Running::start().await;
    server.create("plan").await;
    for text in ["1", "2", "3", "4", "5"] {
        server.say("plan", text).await;
    }
    for (query, expected, next) in [
        ("?limit=2", vec!["1", "2"], json!(2)),
        ("?limit=2&seq=2", vec!["3", "4"], json!(4)),
        ("?limit=2&seq=4", vec!["5"], Value::Null),
        ("?limit=2&backward=true", vec!["5", "4"], json!(2)),
        ("?limit=9&backward=true&seq=1", vec!["2", "1"], Value::Null),
        ("?turn=3&limit=1", vec!["3"], json!(3)),
        ("?index=4", vec!["5"], Value::Null),
        ("?seq=99", vec![], Value::Null),
    ] {
        let page = server.get(&format!("/sessions/plan/events{query}")).await;
        assert_eq!(contents(&page), expected, "{query}");
        assert_eq!(page["next"], next, "{query}");
    }
    for wrong in ["?limit=0", "?limit=1001", "?seq=1&turn=1", "?seq=-1", "?x=1", "?event=%00"] {
        let path = format!("/sessions/plan/events{wrong}");
        let got = server.request(Method::GET, &path).send().await.unwrap();
        problem(got, 400, "invalid_args").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_changed_deleted_and_brought_back() {
    let server = Running::start().await;
    server.create("plan").await;
    let change = server.request(Method::PATCH, "/sessions/plan");
    let changed =
        send(change, &json!({ "title": "<b>which parser?</b>", "label": "main-2" })).await;
    let changed = answer(changed, StatusCode::OK).await;
    assert_eq!(changed["session"]["title"], "<b>which parser?</b>");
    assert_eq!(changed["session"]["label"], "main-2");
    let change = server.request(Method::PATCH, "/sessions/plan");
    let untitled = send(change, &json!({ "title": null })).await;
    assert_eq!(answer(untitled, StatusCode::OK).await["session"]["title"], Value::Null);

    let deleted = server.request(Method::DELETE, "/sessions/plan").send().await.unwrap();
    assert_eq!(answer(deleted, StatusCode::OK).await["deleted"], json!(["plan"]));
    let gone = server.request(Method::GET, "/sessions/plan").send().await.unwrap();
    problem(gone, 404, "not_found").await;
    let back = server.post("/sessions/plan/undelete", &json!({})).await;
    assert_eq!(back.status(), 200);
    assert_eq!(server.get("/sessions").await["sessions"][0]["id"], "plan");
    let operations = server.get("/operations").await;
    assert_eq!(operations["operations"][0]["principal"], "serve", "{operations}");
}

#[tokio::test(flavor = "multi_thread")]
async fn attachments_of_any_size_come_back() {
    let server = Running::start().await;
    server.create("plan").await;
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| (n * 7 % 251) as u8).collect();
    let request = server.request(Method::POST, "/sessions/plan/attachments?name=a.html");
    let sent =
        request.header("content-type", "text/html").body(bytes.clone()).send().await.unwrap();
    let attached = answer(sent, StatusCode::CREATED).await;
    let id = attached["ref"].as_str().unwrap_or_else(|| panic!("{attached}"));
    let path = format!("/sessions/plan/attachments/{id}");
    let read = server.request(Method::GET, &path).send().await.unwrap();
    // A page that a session brought along is never shown as a page of this server.
    assert_eq!(read.headers()["content-type"], "application/octet-stream");
    assert_eq!(read.headers()["content-disposition"], "attachment");
    assert_eq!(read.bytes().await.unwrap(), bytes);
    let other = format!("/sessions/plan/attachments/sha256:{}", "0".repeat(64));
    let missing = server.request(Method::GET, &other).send().await.unwrap();
    problem(missing, 404, "not_found").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_requests_are_named_and_change_nothing() {
    let server = Running::start().await;
    server.create("plan").await;
    let post = |body: &'static str, kind: &'static str| {
        let request = server.request(Method::POST, "/sessions").header("content-type", kind);
        async move { request.body(body).send().await.unwrap() }
    };
    for body in
        ["", "{", "[]", "null", r#"{"workspace":7}"#, r#"{"workspace":"/w","x":1}"#, "{} {}"]
    {
        problem(post(body, "application/json").await, 400, "invalid_args").await;
    }
    problem(post("{}", "text/plain").await, 415, "invalid_args").await;
    let named = problem(post(r#"{"workspace":7}"#, "application/json").await, 400, "invalid_args");
    assert_eq!(named.await["details"]["path"], "workspace");
    for path in ["/sessions/no", "/sessions/no/events", "/sessions/no/tree", "/diff?a=no&b=no"] {
        let got = server.request(Method::GET, path).send().await.unwrap();
        problem(got, 404, "not_found").await;
    }
    for path in ["/sessions/%00", "/sessions/a%2F..%2Fb", "/sessions?limit=x", "/operations/x"] {
        let got = server.request(Method::GET, path).send().await.unwrap();
        problem(got, 400, "invalid_args").await;
    }
    let nothing = server.request(Method::GET, "/nothing").send().await.unwrap();
    problem(nothing, 404, "not_found").await;
    let method = server.request(Method::PUT, "/sessions").send().await.unwrap();
    problem(method, 405, "invalid_args").await;
    assert_eq!(server.get("/sessions").await["sessions"].as_array().unwrap().len(), 1);
}

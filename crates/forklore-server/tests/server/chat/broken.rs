//! What goes wrong: models that fail, servers that stop, callers who may not, servers without an agent.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json as value};

use super::agent::{CONFIG, configured};
use super::{chatting, until, until_notified};
use crate::{Running, json, problem, send};

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_says_what_to_do() {
    let (server, _script) = chatting().await;
    server.create("plan").await;
    let mut events = server.follow("plan", None).await;
    server.prompt("plan", "fail").await;
    let end = until(&mut events, "end").await.pop().unwrap().data;
    let detail = end["problem"]["detail"].as_str().unwrap();
    assert!(detail.contains("it fails"), "{end}");
    assert_eq!(end["problem"]["next_actions"].as_array().unwrap().len(), 1, "{end}");
    server.prompt("plan", "hello").await;
    let end = until(&mut events, "end").await.pop().unwrap().data;
    assert_eq!(end["turn"]["text"], "m1 read: hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_wrong_stores_nothing() {
    let (server, _script) = chatting().await;
    server.create("plan").await;
    let turns = "/sessions/plan/turns";
    for wrong in [
        value!({ "prompt": " " }),
        value!({}),
        value!({ "prompt": "a", "x": 1 }),
        value!([]),
        value!({ "prompt": "a", "model": "none" }),
    ] {
        problem(server.post(turns, &wrong).await, 400, "invalid_args").await;
    }
    let continued = server.post(turns, &value!({ "prompt": null })).await;
    problem(continued, 409, "conflict").await;
    problem(
        server.post("/sessions/none/turns", &value!({ "prompt": "a" })).await,
        404,
        "not_found",
    )
    .await;
    assert!(server.texts_of("plan").await.is_empty());
    server.prompt("plan", "fine").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_read_follows_and_begins_nothing() {
    let (server, _script) = chatting().await;
    server.create("plan").await;
    let tokens = forklore_server::TokenFile::at(server.state().join("tokens.json"));
    let now = jiff::Timestamp::now();
    let (_, token) = tokens.add("reader", forklore_api::Scope::Read, now, None).unwrap();
    let posts = [
        "/api/v1/sessions/plan/turns",
        "/api/v1/sessions/plan/turns/current/interrupt",
        "/api/v1/sessions/plan/approvals/x",
        "/chat/new",
    ];
    for path in posts {
        let request = server.bare(Method::POST, path).bearer_auth(&token);
        let refused = send(request, &value!({ "prompt": "a", "answer": "allow" })).await;
        problem(refused, 403, "permission_denied").await;
    }
    let page = server.bare(Method::GET, "/s/plan/chat").bearer_auth(&token);
    let page = page.send().await.unwrap().text().await.unwrap();
    assert!(page.contains("may read only") && !page.contains("<textarea"), "{page}");
    let live = server.bare(Method::GET, "/api/v1/sessions/plan/turns/live").bearer_auth(&token);
    assert_eq!(live.send().await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_interrupts_its_turns() {
    let (server, _script) = chatting().await;
    server.create("plan").await;
    let mut events = server.follow("plan", None).await;
    server.prompt("plan", "hang").await;
    until_notified(&mut events, "content_block:delta").await;
    let folder = server.stop().await;
    let (server, _script) = configured(folder, CONFIG).await;
    let session = server.get("/sessions/plan").await;
    assert_eq!(session["session"]["status"], "idle", "{session}");
    let stored = server.get("/sessions/plan/events").await.to_string();
    assert!(stored.contains("m1 read: "), "{stored}");
    let body = value!({ "prompt": null, "model": "two" });
    json(server.post("/sessions/plan/turns", &body).await, StatusCode::ACCEPTED).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_agent_everything_says_how_to_get_one() {
    let server = Running::start().await;
    server.create("plan").await;
    let sent = server.post("/sessions/plan/turns", &value!({ "prompt": "a" })).await;
    let refused = problem(sent, 422, "unsupported").await;
    assert_eq!(refused["next_actions"], value!(["start it with: forklore serve --chat"]));
    let page = server.bare(Method::GET, "/s/plan/chat").bearer_auth(&server.token);
    let page = page.send().await.unwrap().text().await.unwrap();
    assert!(page.contains("<code>forklore serve --chat</code>"), "{page}");
    let reader = server.bare(Method::GET, "/s/plan").bearer_auth(&server.token);
    assert!(!reader.send().await.unwrap().text().await.unwrap().contains("/s/plan/chat"));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_model_the_page_says_what_the_program_says() {
    let (server, _script) = configured(tempfile::tempdir().unwrap(), "").await;
    server.create("plan").await;
    for path in ["/s/plan/chat", "/chat/new"] {
        let page = server.bare(Method::GET, path).bearer_auth(&server.token);
        let page = page.send().await.unwrap().text().await.unwrap();
        assert!(page.contains("no model is configured. Write lines like these"), "{page}");
    }
    let sent = server.post("/sessions/plan/turns", &value!({ "prompt": "a" })).await;
    let status = sent.status();
    let refused: Value = serde_json::from_str(&sent.text().await.unwrap()).unwrap();
    assert!(status.is_client_error(), "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains("no model is configured"), "{refused}");
}

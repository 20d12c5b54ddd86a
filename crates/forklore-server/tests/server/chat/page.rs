//! The page in a real browser, by keyboard only.

use std::path::Path;

use reqwest::{Method, StatusCode};
use serde_json::json as value;

use super::chatting;
use crate::{json, send};

#[tokio::test(flavor = "multi_thread")]
async fn people_talk_by_keyboard() {
    let (server, _script) = chatting().await;
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/chat/talk.py");
    let variables =
        [("FORKLORE_URL", server.url.clone()), ("FORKLORE_TOKEN", server.token.clone())];
    let passed = tokio::task::spawn_blocking(move || forklore_browser::passes(&tests, &variables));
    let printed = passed.await.unwrap().unwrap_or_else(|failed| panic!("{failed}"));
    assert!(printed.contains("passed"), "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_begins_with_a_form() {
    let (server, _script) = chatting().await;
    let form = server.bare(Method::GET, "/chat/new").bearer_auth(&server.token);
    let form = form.send().await.unwrap().text().await.unwrap();
    assert!(
        form.contains("value=\"/work/demo\"") && form.contains("<option value=\"two\">"),
        "{form}"
    );
    let body = "folder=%2Fwork%2Fother&model=two&title=My+plan";
    let made = server.bare(Method::POST, "/chat/new").bearer_auth(&server.token);
    let made = made.header("content-type", "application/x-www-form-urlencoded").body(body);
    let made = made.send().await.unwrap();
    assert_eq!(made.status(), StatusCode::OK);
    let address = made.url().clone();
    assert_eq!(address.query(), Some("model=two"));
    let page = made.text().await.unwrap();
    assert!(page.contains("<h1>My plan</h1>"), "{page}");
    assert!(page.contains("<option value=\"two\" selected>"), "{page}");
    let id = address.path().split('/').nth(2).unwrap().to_owned();
    let session = server.get(&format!("/sessions/{id}")).await;
    assert_eq!(session["session"]["workspace"], "/work/other");
    let wrong = server.bare(Method::POST, "/chat/new").bearer_auth(&server.token);
    let wrong = wrong.header("content-type", "application/x-www-form-urlencoded");
    let wrong = wrong.body("folder=%2Fw&model=none").send().await.unwrap();
    assert_eq!(wrong.status(), StatusCode::BAD_REQUEST);
    server.say(&id, "a plan").await;
    // A fork goes on here.
    let fork = server.request(Method::POST, &format!("/sessions/{id}/forks"));
    json(send(fork, &value!({ "id": "branch" })).await, StatusCode::CREATED).await;
    let fork = server.bare(Method::GET, "/s/branch?forked=forklore").bearer_auth(&server.token);
    assert!(fork.send().await.unwrap().text().await.unwrap().contains("Go on here"));
}

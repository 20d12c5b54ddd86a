//! Turns: sent, streamed, interrupted, and refused.

use reqwest::{Method, StatusCode};
use serde_json::json as value;

use super::agent::HOSTILE;
use super::{chatting, streamed, until, until_notified};
use crate::{json, problem, send};

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_arrives_in_pieces_and_is_stored() {
    let (server, script) = chatting().await;
    server.create("plan").await;
    let mut events = server.follow("plan", None).await;
    let state = until(&mut events, "state").await.remove(0).data;
    let idle = value!({ "session_id": "plan", "turn_id": null, "approvals": [] });
    assert_eq!(state, idle);
    let began = server.prompt("plan", "slow").await;
    assert_eq!(began["model"], "one");
    assert_eq!(until(&mut events, "begin").await.remove(0).data, began);
    // The prompt was acknowledged, so it is stored.
    assert_eq!(server.texts_of("plan").await.len(), 1);
    for expected in ["one ", "two "] {
        script.pieces.add_permits(1);
        let seen = until_notified(&mut events, "content_block:delta").await;
        assert_eq!(streamed(&seen), expected);
    }
    let current = server.get("/sessions/plan/turns/current").await;
    assert_eq!(current["turn_id"], began["turn_id"]);
    script.pieces.add_permits(1);
    let end = until(&mut events, "end").await.pop().unwrap().data;
    let turn = &end["turn"];
    assert_eq!((&turn["status"], &turn["text"]), (&value!("success"), &value!("one two three")));
    assert_eq!(end["problem"], value!(null));
    assert_eq!(server.texts_of("plan").await.len(), 2);
    assert_eq!(server.get("/sessions/plan/turns/current").await, idle);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_connects_anew_misses_nothing_and_gets_nothing_twice() {
    let (server, script) = chatting().await;
    server.create("plan").await;
    let mut first = server.follow("plan", None).await;
    until(&mut first, "state").await;
    server.prompt("plan", "slow").await;
    script.pieces.add_permits(1);
    let seen = until_notified(&mut first, "content_block:delta").await;
    let last = seen.last().unwrap().id.clone();
    drop(first);
    script.pieces.add_permits(1);
    // Who comes new sees the running turn from its beginning.
    let mut new = server.follow("plan", None).await;
    let mut all = until(&mut new, "begin").await;
    while streamed(&all) != "one two " {
        all.push(new.next().await.unwrap());
    }
    script.pieces.add_permits(1);
    let mut again = server.follow("plan", Some(&last)).await;
    assert_eq!(again.next().await.unwrap().event, "state");
    let rest = until(&mut again, "end").await;
    let whole = rest.iter().find(|sent| sent.data["event"] == "content_block:end").unwrap();
    assert_eq!(whole.data["data"]["block"]["text"], "one two three");
    assert!(!streamed(&rest).contains("one"), "{rest:?}");
    let ids: std::collections::BTreeSet<_> = rest.iter().map(|sent| &sent.id).collect();
    assert_eq!(ids.len(), rest.len());
    // A number of another run of the server names nothing here.
    let mut other = server.follow("plan", Some("elsewhere:99")).await;
    let state = other.next().await.unwrap();
    assert_eq!((state.event.as_str(), &state.data["turn_id"]), ("state", &value!(null)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_interrupted_and_gone_on_with() {
    let (server, _script) = chatting().await;
    server.create("plan").await;
    let mut events = server.follow("plan", None).await;
    server.prompt("plan", "hang").await;
    until_notified(&mut events, "content_block:delta").await;
    let path = "/sessions/plan/turns/current/interrupt";
    json(server.post(path, &value!({})).await, StatusCode::OK).await;
    let end = until(&mut events, "end").await.pop().unwrap().data;
    let turn = &end["turn"];
    assert_eq!((&turn["status"], &turn["text"]), (&value!("cancelled"), &value!("m1 read: ")));
    let page = server.bare(Method::GET, "/s/plan/chat").bearer_auth(&server.token);
    let page = page.send().await.unwrap().text().await.unwrap();
    assert!(page.contains("<div class=\"notice\" id=\"broken\">"), "{page}");
    problem(server.post(path, &value!({})).await, 409, "conflict").await;
    let body = value!({ "prompt": null, "model": "two" });
    let began = json(server.post("/sessions/plan/turns", &body).await, StatusCode::ACCEPTED).await;
    assert_eq!(began["model"], "two");
    let end = until(&mut events, "end").await.pop().unwrap().data;
    assert_eq!(end["turn"]["status"], "success", "{end}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_sends_one_is_refused_and_a_repetition_is_the_same_turn() {
    let (server, script) = chatting().await;
    server.create("plan").await;
    let mut events = server.follow("plan", None).await;
    let send_with = |key: &'static str, prompt: &'static str| {
        let request = server.request(Method::POST, "/sessions/plan/turns");
        let body = value!({ "prompt": prompt });
        async move { send(request.header("idempotency-key", key), &body).await }
    };
    let began = json(send_with("a", "slow").await, StatusCode::ACCEPTED).await;
    let busy = problem(send_with("b", "other").await, 423, "busy").await;
    assert_eq!(busy["detail"], "a turn of this session is running");
    assert_eq!(busy["next_actions"].as_array().unwrap().len(), 2);
    assert_eq!(json(send_with("a", "slow").await, StatusCode::ACCEPTED).await, began);
    problem(send_with("a", "else").await, 409, "conflict").await;
    script.pieces.add_permits(3);
    until(&mut events, "end").await;
    assert_eq!(json(send_with("a", "slow").await, StatusCode::ACCEPTED).await, began);
    assert_eq!(server.texts_of("plan").await.len(), 2);
    server.prompt("plan", "next").await;
    until(&mut events, "end").await;
    assert_eq!(server.texts_of("plan").await.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_answer_stays_data() {
    let (server, _script) = chatting().await;
    server.create("plan").await;
    let mut events = server.follow("plan", None).await;
    server.prompt("plan", "hostile").await;
    let seen = until(&mut events, "end").await;
    let whole = seen.iter().find(|sent| sent.data["event"] == "content_block:end").unwrap();
    assert_eq!(whole.data["data"]["block"]["text"], format!("m1 read: {HOSTILE}"));
    assert_eq!(seen.iter().filter(|sent| sent.event == "end").count(), 1);
    let page = server.bare(Method::GET, "/s/plan/chat").bearer_auth(&server.token);
    let page = page.send().await.unwrap().text().await.unwrap();
    assert!(!page.contains("<img src=x"), "{page}");
    assert!(!page.contains('\u{202e}'));
}

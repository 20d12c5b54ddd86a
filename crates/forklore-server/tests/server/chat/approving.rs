//! Questions about tool calls: anybody who may write answers, and the first answer counts.

use reqwest::StatusCode;
use serde_json::{Value, json as value};

use super::{chatting, until};
use crate::live::Events;
use crate::{Running, json, problem};

/// Sends a prompt after which the model calls a tool, and returns the question.
async fn ask(server: &Running, events: &mut Events) -> Value {
    server.prompt("plan", "call").await;
    until(events, "approval").await.pop().unwrap().data
}

async fn answer(server: &Running, question: &Value, answer: &str) -> reqwest::Response {
    let id = question["approval_id"].as_str().unwrap();
    server.post(&format!("/sessions/plan/approvals/{id}"), &value!({ "answer": answer })).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_runs_after_it_was_allowed() {
    let (server, _script) = chatting().await;
    server.create("plan").await;
    let mut events = server.follow("plan", None).await;
    let question = ask(&server, &mut events).await;
    assert_eq!(question["tool_name"], "delegate");
    assert_eq!(question["arguments"], value!({ "task": "count <b>" }));
    // A second browser sees the running turn and its question, and may answer.
    let mut other = server.follow("plan", None).await;
    let state = other.next().await.unwrap().data;
    assert_eq!(state["approvals"], value!([question]));
    assert_eq!(server.get("/sessions/plan/turns/current").await, state);
    let answered = json(answer(&server, &question, "allow").await, StatusCode::OK).await;
    assert_eq!((&answered["answer"], &answered["by"]), (&value!("allow"), &value!("serve")));
    assert_eq!(until(&mut events, "answered").await.pop().unwrap().data, answered);
    let late = problem(answer(&server, &question, "deny").await, 409, "conflict").await;
    assert!(late["detail"].as_str().unwrap().contains("was answered before"), "{late}");
    let end = until(&mut events, "end").await.pop().unwrap().data;
    let turn = &end["turn"];
    assert_eq!((&turn["status"], &turn["tool_calls"]), (&value!("success"), &value!(1)), "{end}");
    let family = server.get("/sessions/plan/lineage").await;
    assert_eq!(family["children"].as_array().unwrap().len(), 1, "{family}");
    // The next call is asked about again.
    let question = ask(&server, &mut events).await;
    json(answer(&server, &question, "always").await, StatusCode::OK).await;
    until(&mut events, "end").await;
    server.prompt("plan", "call").await;
    let seen = until(&mut events, "end").await;
    assert!(seen.iter().all(|sent| sent.event != "approval"), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_call_does_not_run() {
    let (server, _script) = chatting().await;
    server.create("plan").await;
    let mut events = server.follow("plan", None).await;
    let question = ask(&server, &mut events).await;
    let wrong = answer(&server, &question, "perhaps").await;
    problem(wrong, 400, "invalid_args").await;
    json(answer(&server, &question, "deny").await, StatusCode::OK).await;
    let end = until(&mut events, "end").await.pop().unwrap().data;
    assert_eq!(end["turn"]["status"], "success", "{end}");
    let family = server.get("/sessions/plan/lineage").await;
    assert_eq!(family["children"], value!([]), "{family}");
    let events = server.get("/sessions/plan/events").await.to_string();
    assert!(events.contains("serve said no"), "{events}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interruption_takes_the_question_back() {
    let (server, _script) = chatting().await;
    server.create("plan").await;
    let mut events = server.follow("plan", None).await;
    let question = ask(&server, &mut events).await;
    let path = "/sessions/plan/turns/current/interrupt";
    json(server.post(path, &value!({})).await, StatusCode::OK).await;
    let end = until(&mut events, "end").await.pop().unwrap().data;
    assert_eq!(end["turn"]["status"], "cancelled", "{end}");
    problem(answer(&server, &question, "allow").await, 409, "conflict").await;
    let family = server.get("/sessions/plan/lineage").await;
    assert_eq!(family["children"], value!([]), "{family}");
}

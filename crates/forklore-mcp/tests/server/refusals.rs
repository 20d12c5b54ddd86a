//! Calls that cannot be answered: a kind, a message, and what to do next.

use serde_json::json;

use crate::world::{FOLDER, client, session, with_a_plan};

#[tokio::test]
async fn every_tool_refuses_a_session_that_is_not_there() {
    let engine = with_a_plan();
    let client = client(&engine, &forklore_mcp::Allow::ALL).await;
    for (tool, input) in [
        ("overview", json!({ "session": "nowhere" })),
        ("messages", json!({ "session": "nowhere" })),
        ("tree", json!({ "session": "nowhere" })),
        ("diff", json!({ "a": "plan-1", "b": "nowhere" })),
        ("stats", json!({ "session": "nowhere" })),
        ("resume_command", json!({ "session": "nowhere" })),
        ("fork", json!({ "session": "nowhere" })),
        ("bring", json!({ "from": "nowhere", "into": "plan-1" })),
        ("label", json!({ "session": "nowhere", "label": "x" })),
    ] {
        let refused = client.refusal(tool, input).await;
        assert_eq!(refused["kind"], "not_found", "{tool}: {refused}");
        assert!(refused["next"][0].as_str().unwrap().contains("list_sessions"), "{tool}");
    }
}

#[tokio::test]
async fn errors_say_what_to_do() {
    let engine = with_a_plan();
    session(&engine, "plan-3", "Another", FOLDER);
    let client = client(&engine, &[]).await;
    let mut refused = Vec::new();
    for (tool, input) in [
        ("overview", json!({ "session": "plan" })),
        ("overview", json!({ "session": "\u{1b}[31m" })),
        ("overview", json!({ "sesion": "plan-1" })),
        ("overview", json!({})),
        ("messages", json!({ "session": "plan-1", "cursor": "x" })),
        ("messages", json!({ "session": "plan-1", "limit": -1 })),
        ("list_sessions", json!({ "since": "yesterday" })),
        ("list_sessions", json!({ "cursor": "x" })),
        ("search", json!({ "query": "" })),
        ("search", json!({ "query": "regex:(" })),
        ("search", json!({ "query": "x", "role": "boss" })),
        ("tree", json!({ "cursor": "x" })),
        ("resume_command", json!({ "session": "plan-1", "agent": "x" })),
    ] {
        refused.push((tool, input.clone(), client.refusal(tool, input).await));
    }
    insta::assert_json_snapshot!("refusals", refused);
}

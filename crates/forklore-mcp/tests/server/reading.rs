//! What each tool answers.

use forklore_engine::Fork;
use serde_json::json;

use crate::world::{FOLDER, client, id, reply, say, session, with_a_plan};

#[tokio::test]
async fn sessions_are_listed_and_read() {
    let engine = with_a_plan();
    session(&engine, "other-1", "Elsewhere", "/work/other");
    let client = client(&engine, &[]).await;
    insta::assert_json_snapshot!("list", client.answer("list_sessions", json!({})).await);
    let all = client.answer("list_sessions", json!({ "everywhere": true })).await;
    assert_eq!(all["sessions"].as_array().unwrap().len(), 2);
    let named = json!({ "workspace": "/work/other" });
    let other = client.answer("list_sessions", named).await;
    assert_eq!(other["sessions"][0]["session_id"], "other-1");
    let overview = client.answer("overview", json!({ "session": "last" })).await;
    insta::assert_json_snapshot!("overview", overview);
    let messages = client.answer("messages", json!({ "session": "plan the" })).await;
    insta::assert_json_snapshot!("messages", messages);
}

#[tokio::test]
async fn words_and_files_are_found() {
    let engine = with_a_plan();
    let client = client(&engine, &[]).await;
    let found = client.answer("search", json!({ "query": "winnow errors" })).await;
    insta::assert_json_snapshot!("search", found);
    let none = client.answer("search", json!({ "query": "absent" })).await;
    assert_eq!(none["hits"], json!([]));
    assert!(none["hint"].as_str().unwrap().contains("everywhere: true"));
    let blame = client.answer("blame", json!({ "path": "src/http.rs" })).await;
    insta::assert_json_snapshot!("blame", blame);
}

#[tokio::test]
async fn families_are_shown_and_compared() {
    let engine = with_a_plan();
    let fork = Fork {
        id: Some(id("plan-2")),
        label: Some("wait".parse().unwrap()),
        ..Fork::of(id("plan-1")).at("turn:1".parse().unwrap())
    };
    let fork = engine.fork(&fork).unwrap().child_session_id;
    say(&engine, &fork, "Wait for the audit");
    reply(&engine, &fork, "I wait");
    let client = client(&engine, &[]).await;
    insta::assert_json_snapshot!("tree", client.answer("tree", json!({})).await);
    let compared = client.answer("diff", json!({ "a": "plan-1", "b": "@wait" })).await;
    insta::assert_json_snapshot!("diff", compared);
    let stats = client.answer("stats", json!({ "session": "plan-1", "family": true })).await;
    assert_eq!((&stats["sessions"], &stats["usage"]["input"]), (&json!(2), &json!(0)));
    let all = client.answer("stats", json!({})).await;
    assert_eq!(all["sessions"], 2);
    let command = client.answer("resume_command", json!({ "session": "plan-2" })).await;
    assert_eq!(command["in_forklore"], "forklore resume plan-2");
}

#[tokio::test]
async fn a_session_is_read_while_it_is_written() {
    let engine = with_a_plan();
    let client = client(&engine, &[]).await;
    for turn in 0..20 {
        say(&engine, &id("plan-1"), &format!("more {turn}"));
        let read = client.answer("messages", json!({ "session": "plan-1", "last": 1 })).await;
        let last = &read["messages"][0];
        assert_eq!(last["parts"][0]["untrusted_text"], format!("more {turn}"));
        let found = client.answer("search", json!({ "query": format!("\"more {turn}\"") })).await;
        assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found}");
    }
    assert_eq!(engine.show(&id("plan-1")).unwrap().workspace.as_str(), FOLDER);
}

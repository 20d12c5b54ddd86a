//! Long sessions and long messages: every page is short, and all pages together are whole.

use forklore_engine::NewEvent;
use serde_json::{Value, json};

use crate::world::{FOLDER, client, engine, id, say, session};

/// Reads all pages of an answer, and returns the items of its list.
async fn pages(
    client: &crate::world::Client,
    tool: &'static str,
    mut input: Value,
    list: &str,
) -> Vec<Value> {
    let mut all = Vec::new();
    loop {
        let mut page = client.answer(tool, input.clone()).await;
        let Value::Array(items) = page[list].take() else { panic!("{tool}: no {list}") };
        assert!(!items.is_empty(), "{tool}: {input}");
        all.extend(items);
        if page["next_cursor"].is_null() {
            return all;
        }
        input["cursor"] = page["next_cursor"].take();
    }
}

#[tokio::test]
async fn ten_thousand_messages_are_read_in_pages() {
    let engine = engine();
    let long = session(&engine, "long-1", "Long", FOLDER);
    let events: Vec<_> =
        (0..10_000).map(|n| NewEvent::user(&format!("message {n}")).unwrap()).collect();
    engine.append(&long, &events.into()).unwrap();
    let client = client(&engine, &[]).await;
    let read = pages(&client, "messages", json!({ "session": "long-1", "limit": 200 }), "messages");
    let texts: Vec<_> = read.await.iter().map(text).collect();
    let expected: Vec<_> = (0..10_000).map(|n| format!("message {n}")).collect();
    assert!(texts == expected, "{} messages", texts.len());
    let last = client.answer("messages", json!({ "session": "long-1", "last": 2 })).await;
    assert_eq!((&last["total"], &last["messages"][0]["index"]), (&json!(10_000), &json!(9_998)));
    let overview = client.answer("overview", json!({ "session": "long-1" })).await;
    assert_eq!(overview["omitted_requests"], 10_000 - 15);
}

#[tokio::test]
async fn many_hits_are_returned_in_pages() {
    let engine = engine();
    let long = session(&engine, "long-1", "Long", FOLDER);
    for n in 0..120 {
        say(&engine, &long, &format!("message {n} {}", "\"quoted\" ".repeat(40)));
    }
    let client = client(&engine, &[]).await;
    let hits = pages(&client, "search", json!({ "query": "message", "limit": 50 }), "hits").await;
    let mut seqs: Vec<_> = hits.iter().map(|hit| hit["seq"].as_u64().unwrap()).collect();
    seqs.sort_unstable();
    assert_eq!(seqs, (0..120).collect::<Vec<_>>());
}

fn text(message: &Value) -> String {
    message["parts"][0]["untrusted_text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_rest_of_a_long_message_follows() {
    let engine = engine();
    let long = session(&engine, "long-1", "Long", FOLDER);
    // Quotation marks take two characters each in JSON.
    let whole: String = (0..20_000).map(|n| format!("\"{n}\"\n")).collect();
    say(&engine, &long, &whole);
    say(&engine, &long, "next");
    let client = client(&engine, &[]).await;
    let first = client.answer("messages", json!({ "session": "long-1" })).await;
    let [cut, next] = first["messages"].as_array().unwrap().as_slice() else { panic!("{first}") };
    assert_eq!(text(next), "next");
    let mut read = text(cut);
    let mut more = cut["more"].clone();
    while !more.is_null() {
        let input = json!({ "session": "long-1", "cursor": more, "limit": 1 });
        let page = client.answer("messages", input).await;
        read += &text(&page["messages"][0]);
        more = page["messages"][0]["more"].clone();
    }
    assert!(read == whole, "{} of {}", read.len(), whole.len());
}

#[tokio::test]
async fn many_sessions_are_listed_in_pages() {
    let engine = engine();
    for n in 0..120 {
        let title = format!("{n} {}", "\"long title\" ".repeat(20));
        session(&engine, &format!("many-{n:03}"), &title, FOLDER);
    }
    let client = client(&engine, &[]).await;
    let ids = |sessions: Vec<Value>| -> Vec<String> {
        sessions.iter().map(|it| it["session_id"].as_str().unwrap().to_owned()).collect()
    };
    let newest_first: Vec<_> = (0..120).rev().map(|n| format!("many-{n:03}")).collect();
    let listed = pages(&client, "list_sessions", json!({ "limit": 50 }), "sessions").await;
    assert_eq!(ids(listed), newest_first);
    let nodes = pages(&client, "tree", json!({}), "nodes").await;
    assert_eq!(ids(nodes), newest_first);
    assert_eq!(engine.show(&id("many-000")).unwrap().counts.turns, 0);
}

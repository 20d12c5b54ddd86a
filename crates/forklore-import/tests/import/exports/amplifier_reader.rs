//! Reads Amplifier's sessions as Amplifier does: `get_project_slug`, `SessionStore` of the command
//! line, and `SessionHistoryStore`, `diagnose_transcript`, `slice_to_turn` and
//! `get_session_lineage` of its foundation.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use forklore_core::{Data, Message, Part, Role};
use jiff::Timestamp;
use serde_json::{Map, Value};

/// A session: its messages and the document that describes it.
pub(crate) struct Session {
    pub(crate) messages: Vec<Value>,
    pub(crate) metadata: Map<String, Value>,
}

/// Returns the directory with the sessions of a workspace.
pub(crate) fn sessions(home: &Path, workspace: &Path) -> PathBuf {
    let slug = workspace.to_str().unwrap().replace(['/', '\\'], "-").replace(':', "");
    let slug = if slug.starts_with('-') { slug } else { format!("-{slug}") };
    home.join(".amplifier/projects").join(slug).join("sessions")
}

/// Returns the ids of the sessions that Amplifier lists.
pub(crate) fn list(sessions: &Path) -> Vec<String> {
    let entries = fs::read_dir(sessions).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let names = folders.map(|entry| entry.file_name().into_string().unwrap());
    let mut ids: Vec<_> = names.filter(|name| !name.starts_with('.')).collect();
    ids.sort();
    ids
}

/// Reads a session. Its document must be there, and describe it.
pub(crate) fn load(sessions: &Path, session: &str, workspace: &Path) -> Session {
    let folder = sessions.join(session);
    let messages = read(&fs::read_to_string(folder.join("transcript.jsonl")).unwrap());
    let document = fs::read_to_string(folder.join("metadata.json")).unwrap();
    let metadata: Map<String, Value> = serde_json::from_str(&document).unwrap();
    assert_eq!(metadata["session_id"], session);
    assert_eq!(metadata["working_dir"], workspace.to_str().unwrap());
    let is_time = |name: &str| metadata[name].as_str().unwrap().parse::<Timestamp>().is_ok();
    assert!(is_time("created"), "{document}");
    assert_eq!(metadata.contains_key("parent_id"), metadata.contains_key("forked_at"));
    assert!(!metadata.contains_key("forked_at") || is_time("forked_at"), "{document}");
    Session { messages, metadata }
}

/// Reads the text of a transcript.
pub(crate) fn read(transcript: &str) -> Vec<Value> {
    assert!(transcript.is_empty() || transcript.ends_with('\n'));
    // Python's universal line ends, which also end lines at a lone carriage return.
    let lines = transcript.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    let messages: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect();
    messages.iter().for_each(check);
    diagnose(&messages);
    for turn in 1..=messages.iter().filter(|it| it["role"] == "user").count() {
        assert_eq!(orphans(slice_to_turn(&messages, turn)), [""; 0], "turn {turn}");
    }
    messages
}

/// Checks a message: `SessionStore` saves none of the system, and the loop writes the rest like this.
fn check(message: &Value) {
    assert!(message["timestamp"].as_str().unwrap().parse::<Timestamp>().is_ok(), "{message}");
    let calls: Vec<&Value> = message["tool_calls"].as_array().into_iter().flatten().collect();
    match message["role"].as_str().unwrap() {
        "user" => assert!(calls.is_empty() && message.get("tool_call_id").is_none(), "{message}"),
        "assistant" => {
            let blocks = message["content"].as_array().into_iter().flatten();
            let blocks: Vec<_> = blocks.filter(|block| block["type"] == "tool_call").collect();
            let of_calls = calls.iter().map(|it| (&it["id"], &it["tool"], &it["arguments"]));
            let of_blocks = blocks.iter().map(|it| (&it["id"], &it["name"], &it["input"]));
            assert!(blocks.is_empty() || of_calls.eq(of_blocks), "{message}");
            assert!(calls.iter().all(|it| it["arguments"].is_object() && it["tool"].is_string()));
        }
        "tool" => {
            assert!(
                message["tool_call_id"].is_string() && message["name"].is_string(),
                "{message}"
            );
            assert!(message["content"].is_string(), "{message}");
        }
        other => panic!("a message of {other} is not saved: {message}"),
    }
    for block in message["content"].as_array().into_iter().flatten() {
        let needed: &[&str] = match block["type"].as_str().unwrap() {
            "text" => &["text"],
            "thinking" => &["thinking"],
            "tool_call" => &["id", "name", "input"],
            "image" => &["source"],
            other => panic!("{other} is no block: {message}"),
        };
        assert!(needed.iter().all(|name| block.get(name).is_some()), "{message}");
    }
    assert!(message["content"].is_string() || message["content"].is_array(), "{message}");
}

fn call_ids(message: &Value) -> impl Iterator<Item = &str> {
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    calls.map(|call| call["id"].as_str().unwrap())
}

/// Checks that a transcript is healthy: no call lacks its result, and no message stands between.
fn diagnose(messages: &[Value]) {
    let mut results: HashMap<&str, usize> = HashMap::new();
    for (at, message) in messages.iter().enumerate().filter(|(_, it)| it["role"] == "tool") {
        results.insert(message["tool_call_id"].as_str().unwrap(), at);
    }
    for (at, message) in messages.iter().enumerate() {
        for call in call_ids(message) {
            let result = *results.get(call).unwrap_or_else(|| panic!("no result: {message}"));
            assert!(result > at, "{message}");
            let between = &messages[at + 1..result];
            let disrupts = |it: &Value| it["role"] == "user" || it["role"] == "assistant";
            assert!(!between.iter().any(disrupts), "{message}");
        }
    }
    let tools = messages.iter().filter(|message| message["role"] == "tool").count();
    assert_eq!(tools, messages.iter().flat_map(call_ids).count(), "a result without a call");
}

/// Returns the messages of the first turns. Each message of the user begins one.
fn slice_to_turn(messages: &[Value], turn: usize) -> &[Value] {
    let users = messages.iter().enumerate().filter(|(_, message)| message["role"] == "user");
    let end = users.map(|(at, _)| at).nth(turn);
    &messages[..end.unwrap_or(messages.len())]
}

fn orphans(messages: &[Value]) -> Vec<&str> {
    let is_answered = |call: &str| messages.iter().any(|it| it["tool_call_id"] == call);
    messages.iter().flat_map(call_ids).filter(|call| !is_answered(call)).collect()
}

/// Returns the ids of the ancestors of a session, the parent first.
pub(crate) fn ancestors(sessions: &Path, session: &Session) -> Vec<String> {
    let parent = |metadata: &Map<String, Value>| metadata.get("parent_id").cloned();
    let (mut found, mut next) = (Vec::new(), parent(&session.metadata));
    while let Some(id) = next.take() {
        let id = id.as_str().unwrap().to_owned();
        if let Ok(text) = fs::read_to_string(sessions.join(&id).join("metadata.json")) {
            next = parent(&serde_json::from_str(&text).unwrap());
        }
        found.push(id);
    }
    found
}

/// Returns a block as a part. A call is also in `tool_calls`.
fn part(block: &Value) -> Option<Part> {
    match block["type"].as_str().unwrap() {
        "text" => Some(Part::Text { text: block["text"].as_str().unwrap().to_owned() }),
        "tool_call" => None,
        _ => Some(Part::Other { value: Data::parse(&block.to_string()).unwrap() }),
    }
}

/// Returns the messages in the common form.
pub(crate) fn messages(session: &[Value]) -> Vec<Message> {
    let data = |value: &Value| Data::parse(&value.to_string()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let messages = session.iter().map(|message| {
        let role = match message["role"].as_str().unwrap() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => {
                let (call_id, content) =
                    (text(&message["tool_call_id"]), data(&message["content"]));
                let (is_error, synthetic) = (false, false);
                let name = Some(text(&message["name"]));
                let result = Part::ToolResult { call_id, name, content, is_error, synthetic };
                return Message::parts(Role::Tool, vec![result]);
            }
        };
        let mut parts: Vec<_> = match message["content"].as_array() {
            Some(blocks) => blocks.iter().filter_map(part).collect(),
            None => vec![Part::Text { text: text(&message["content"]) }],
        };
        parts.extend(message["tool_calls"].as_array().into_iter().flatten().map(|call| {
            let (id, name) = (text(&call["id"]), text(&call["tool"]));
            Part::ToolCall { id, name, arguments: data(&call["arguments"]) }
        }));
        Message::parts(role, parts)
    });
    messages.collect()
}

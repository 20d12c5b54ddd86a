//! Reads Pixir's logs as Pixir does: `Pixir.Log` (`fold`, and the stricter `fold_bounded`),
//! `Pixir.SessionId`, `Pixir.Fork`, `Pixir.SessionTree` and `Pixir.SessionResources`. It is strict:
//! what Pixir's own constructors always write must be there.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use forklore_core::{Data, Message, Part, Role};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The canonical types, of which alone a log consists.
const TYPES: [&str; 14] = [
    "user_message",
    "assistant_message",
    "reasoning",
    "skill_activation",
    "subagent_event",
    "workflow_event",
    "session_fork",
    "branch_summary",
    "history_compaction",
    "provider_usage",
    "turn_failed",
    "tool_call",
    "tool_result",
    "permission_decision",
];
/// The types that a fork copies from its parent.
const REPLAYED: [&str; 9] = [
    "user_message",
    "assistant_message",
    "reasoning",
    "skill_activation",
    "subagent_event",
    "workflow_event",
    "tool_call",
    "tool_result",
    "permission_decision",
];

/// An event of a log.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) session_id: String,
    pub(crate) seq: u64,
    pub(crate) ts: String,
    pub(crate) r#type: String,
    pub(crate) data: Box<RawValue>,
}

impl Event {
    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(self.data.get()).unwrap()
    }

    fn text(&self, field: &str) -> String {
        let data = self.value();
        data[field].as_str().unwrap_or_else(|| panic!("no text in {field}: {self:?}")).to_owned()
    }
}

/// Reads the log at a path, which must be that of a session in a workspace.
pub(crate) fn load(path: &Path) -> Vec<Event> {
    let name = path.file_name().unwrap().to_str().unwrap();
    let session = name.strip_suffix(".ndjson").unwrap();
    assert!(is_session_id(session), "{session}");
    assert!(path.parent().unwrap().ends_with(".pixir/sessions"), "{path:?}");
    assert!(path.symlink_metadata().unwrap().is_file());
    let events = fold(&fs::read_to_string(path).unwrap());
    assert!(events.iter().all(|event| event.session_id == session), "{session}");
    for event in &events {
        check_resources(event, &path.with_extension(""));
    }
    events
}

/// Reads the text of a log. Its numbers begin with 0 and have no gaps.
pub(crate) fn fold(log: &str) -> Vec<Event> {
    assert!(log.is_empty() || log.ends_with('\n'));
    let lines = log.split('\n').filter(|line| !line.is_empty());
    let events: Vec<Event> = lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect();
    let mut ids = HashSet::new();
    for (seq, event) in (0..).zip(&events) {
        assert!(TYPES.contains(&&*event.r#type), "{event:?}");
        assert_eq!((event.seq, &event.session_id), (seq, &events[0].session_id));
        assert!(event.ts.ends_with('Z') && event.ts.parse::<Timestamp>().is_ok(), "{event:?}");
        let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        assert!(event.id.len() == 16 && event.id.chars().all(is_hex), "{event:?}");
        assert!(ids.insert(&*event.id), "{event:?}");
        check_data(event);
    }
    check_calls(&events);
    check_lineage(&events);
    events
}

/// Checks a session id as `Pixir.SessionId` does, for ids of ASCII.
fn is_session_id(id: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_later = |c: char| is_first(c) || c == '-' || c == '.';
    (1..=235).contains(&id.len()) && id.starts_with(is_first) && id.chars().all(is_later)
}

/// Checks that the `data` has what the constructors of `Pixir.Event` write.
fn check_data(event: &Event) {
    let data = event.value();
    assert!(data.is_object(), "{event:?}");
    match &*event.r#type {
        "user_message" | "assistant_message" => assert!(data["text"].is_string(), "{event:?}"),
        "reasoning" => assert!(data["item"].is_object() && data["model"].is_string(), "{event:?}"),
        "tool_call" => {
            assert!(data["call_id"].is_string() && data["name"].is_string(), "{event:?}");
            assert!(data["args"].is_object(), "{event:?}");
        }
        "tool_result" => {
            assert!(data["call_id"].is_string() && data["ok"].is_boolean(), "{event:?}");
            // The model receives an output that is a text, and otherwise the error as JSON.
            assert!(data["output"].is_string() || data["error"].is_object(), "{event:?}");
        }
        "permission_decision" => {
            assert!(data["call_id"].is_string() && data["decision"].is_string(), "{event:?}");
        }
        "history_compaction" => {
            let range = |name: &str| data["range"][name].as_u64().unwrap();
            assert!(range("from_seq") <= range("to_seq"), "{event:?}");
            assert!(range("to_seq") < event.seq && data["summary"].is_string(), "{event:?}");
        }
        "branch_summary" => assert!(data["summary"].is_string(), "{event:?}"),
        _ => {}
    }
}

/// Checks that each call has its result, and each result its call. Pixir drops a result without a
/// call, and answers a call itself when the next message comes.
fn check_calls(events: &[Event]) {
    let mut open = Vec::new();
    for event in events {
        match &*event.r#type {
            "tool_call" => open.push(event.text("call_id")),
            "tool_result" => {
                let call = event.text("call_id");
                let at = open.iter().rposition(|open| *open == call);
                open.remove(at.unwrap_or_else(|| panic!("no call: {event:?}")));
            }
            "user_message" | "assistant_message" => assert_eq!(open, [""; 0], "{event:?}"),
            _ => {}
        }
    }
    assert_eq!(open, [""; 0]);
}

/// Checks the `session_fork` of a log, which only its first event can be.
fn check_lineage(events: &[Event]) {
    assert!(events.iter().skip(1).all(|event| event.r#type != "session_fork"));
    let Some(fork) = lineage(events) else { return };
    for name in ["parent_session_id", "fork_root_session_id"] {
        assert!(is_session_id(fork[name].as_str().unwrap()), "{fork}");
    }
    for name in ["parent_workspace", "child_workspace"] {
        assert!(Path::new(fork[name].as_str().unwrap()).is_absolute(), "{fork}");
    }
    assert_eq!(fork["strategy"], "replay_v1");
    assert!(fork["limitations"].as_array().unwrap().iter().all(Value::is_string), "{fork}");
    let replayed = usize::try_from(fork["replay_event_count"].as_u64().unwrap()).unwrap();
    assert!(replayed < events.len(), "{fork}");
    let from = fork["from_seq"].as_u64();
    assert_eq!(from.is_some(), replayed > 0, "{fork}");
    assert!(from.unwrap_or(0) <= fork["forked_to_seq"].as_u64().unwrap(), "{fork}");
    for event in &events[1..=replayed] {
        // A fork of forklore also copies what stands for a part of the history.
        let context = ["history_compaction", "branch_summary"];
        let kind = &&*event.r#type;
        assert!(REPLAYED.contains(kind) || context.contains(kind), "{event:?}");
    }
}

/// Checks that the stored resources of a message are there.
fn check_resources(event: &Event, session: &Path) {
    let data = event.value();
    for resource in data["resources"].as_array().into_iter().flatten() {
        let field = |name: &str| resource[name].as_str().unwrap_or_else(|| panic!("{event:?}"));
        let name = format!("{}.{}", field("content_sha256"), field("extension"));
        let path = session.join("resources").join(field("resource_id")).join(name);
        assert!(path.is_file(), "{path:?}");
    }
}

/// Returns the data of the `session_fork` with which the log of a fork begins.
pub(crate) fn lineage(events: &[Event]) -> Option<Value> {
    let first = events.first().filter(|event| event.r#type == "session_fork");
    first.map(Event::value)
}

/// Returns the root of the forks to which a session belongs, whose cache they share.
pub(crate) fn fork_root(events: &[Event]) -> String {
    let root =
        lineage(events).map(|fork| fork["fork_root_session_id"].as_str().unwrap().to_owned());
    root.unwrap_or_else(|| events[0].session_id.clone())
}

/// Returns the sessions of a workspace whose logs say that they are forks of `parent`.
pub(crate) fn forks(sessions: &Path, parent: &str) -> Vec<String> {
    let logs = fs::read_dir(sessions).unwrap().map(|entry| entry.unwrap().path());
    let logs = logs.filter(|path| path.extension().is_some_and(|it| it == "ndjson"));
    let mut forks: Vec<String> = logs
        .map(|path| fold(&fs::read_to_string(path).unwrap()))
        .filter(|events| lineage(events).is_some_and(|it| it["parent_session_id"] == parent))
        .map(|events| events[0].session_id.clone())
        .collect();
    forks.sort();
    forks
}

/// Returns what the model receives, as far as it is messages, calls and results.
pub(crate) fn messages(events: &[Event]) -> Vec<Message> {
    let messages = events.iter().filter_map(|event| {
        let data = event.value();
        let id = || event.text("call_id");
        Some(match &*event.r#type {
            "user_message" => Message::text(Role::User, event.text("text")),
            "assistant_message" => Message::text(Role::Assistant, event.text("text")),
            "tool_call" => {
                let (id, name) = (id(), event.text("name"));
                let arguments = Data::parse(&data["args"].to_string()).unwrap();
                Message::parts(Role::Assistant, vec![Part::ToolCall { id, name, arguments }])
            }
            "tool_result" => {
                let content = Data::parse(&data["output"].to_string()).unwrap();
                let (call_id, name, synthetic) = (id(), None, false);
                let is_error = data["ok"] == false;
                let result = Part::ToolResult { call_id, name, content, is_error, synthetic };
                Message::parts(Role::Tool, vec![result])
            }
            _ => return None,
        })
    });
    messages.collect()
}

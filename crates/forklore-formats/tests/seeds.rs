//! Converts messages of Amplifier, ak-coder and Pixir to the common form, and compares whole values
//! and their effect on turns.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;

use forklore_core::agent_format::{AgentFormat, AgentFormats, Line, Record};
use forklore_core::{CallStep, Data, EventType, Message, OpenCall, Part, Role};
use forklore_formats::AGENT_FORMATS;

fn dialect(name: &str) -> &'static dyn AgentFormat {
    AgentFormats(AGENT_FORMATS).named(name).unwrap()
}

fn data(text: &str) -> Data {
    Data::parse(text).unwrap()
}

fn view(name: &str, kind: &str, text: &str) -> Option<Message> {
    dialect(name).view(&kind.parse::<EventType>().unwrap(), &data(text))
}

fn record(name: &str, path: &str, line: &str) -> Record {
    match dialect(name).reader(Path::new(path), None).read(line) {
        Line::Record(record) => *record,
        other => panic!("{other:?}"),
    }
}

fn text(text: &str) -> Part {
    Part::Text { text: text.into() }
}

fn call(id: &str, name: &str, arguments: &str) -> Part {
    Part::ToolCall { id: id.into(), name: name.into(), arguments: data(arguments) }
}

fn thought(text: &str, opaque: &str, model: Option<&str>) -> Part {
    let (text, model) = (text.into(), model.map(Into::into));
    Part::Reasoning { text, provider: None, model, opaque: Some(data(opaque)) }
}

fn result(id: &str, name: Option<&str>, content: &str, is_error: bool) -> Message {
    let (call_id, name, content) = (id.into(), name.map(Into::into), data(content));
    let result = Part::ToolResult { call_id, name, content, is_error, synthetic: false };
    Message::parts(Role::Tool, vec![result])
}

fn opens(id: &str, name: &str) -> CallStep {
    CallStep::Open(OpenCall { id: id.into(), name: name.into() })
}

const TRANSCRIPT: &str = "/h/sessions/s/transcript.jsonl";

#[test]
fn amplifier_tells_a_call_twice_and_it_is_one() {
    let line = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"so"},{"type":"tool_call","id":"c","name":"ls","input":{"n":1.0}},{"type":"image","source":{}}],"tool_calls":[{"id":"c","tool":"ls","arguments":{"n":1.0}},{"id":"d","tool":"cat","arguments":{}}],"timestamp":"2026-01-01T00:00:00+00:00"}"#;
    let parts = vec![
        thought("hm", r#"{"type":"thinking","thinking":"hm","signature":"s"}"#, None),
        text("so"),
        call("c", "ls", r#"{"n":1.0}"#),
        Part::Other { value: data(r#"{"type":"image","source":{}}"#) },
        call("d", "cat", "{}"),
    ];
    let expected = Message::parts(Role::Assistant, parts);
    assert_eq!(view("amplifier", "assistant_message", line), Some(expected));
    let read = record("amplifier", TRANSCRIPT, line);
    assert_eq!(read.effect.calls, [opens("c", "ls"), opens("d", "cat")]);
    assert_eq!(read.facts.native_id.as_deref(), Some("s"));
    assert_eq!(read.ts, Some("2026-01-01T00:00:00Z".parse().unwrap()));
    // A call in OpenAI's form, in a message without content.
    let line = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{\"n\":1}"}}]}"#;
    let expected = Message::parts(Role::Assistant, vec![call("c", "ls", r#"{"n":1}"#)]);
    assert_eq!(view("amplifier", "assistant_message", line), Some(expected));
    assert_eq!(record("amplifier", TRANSCRIPT, line).effect.calls, [opens("c", "ls")]);
}

#[test]
fn amplifier_results_and_reminders() {
    let line = r#"{"role":"tool","name":"ls","tool_call_id":"c","content":"{\"n\": 1}"}"#;
    let expected = result("c", Some("ls"), r#""{\"n\": 1}""#, false);
    assert_eq!(view("amplifier", "tool_result", line), Some(expected));
    let read = record("amplifier", TRANSCRIPT, line);
    assert_eq!(
        (read.kind, read.effect.calls),
        (EventType::TOOL_RESULT, vec![CallStep::Close("c".into())])
    );
    let turns = |content: &str| {
        let line = format!("{{\"role\":\"user\",\"content\":{content}}}");
        record("amplifier", TRANSCRIPT, &line).effect.starts_turn
    };
    assert!(turns("\"a\"") && turns("[{\"type\":\"text\",\"text\":\"a\"}]"));
    assert!(!turns("\"\\n<system-reminder>x\""));
    assert!(!turns("[{\"type\":\"text\",\"text\":\"<system-reminder>x\"}]"));
    assert!(!turns("[{\"type\":\"tool_result\",\"tool_call_id\":\"c\",\"output\":1}]"));
}

#[test]
fn transcripts_are_recognised_where_amplifier_puts_them() {
    let whose = |path: &str, head: &str| {
        AgentFormats(AGENT_FORMATS).detect(Path::new(path), head.as_bytes()).map(AgentFormat::name)
    };
    let line = "{\"role\":\"user\",\"content\":\"a\"}\n";
    assert_eq!(whose(TRANSCRIPT, line), Some("amplifier"));
    assert_eq!(whose("/h/other/s/transcript.jsonl", line), Some("plain"));
    let timed = "{\"role\":\"user\",\"content\":\"a\",\"timestamp\":\"2026-01-01T00:00:00Z\"}\n";
    assert_eq!(whose("/h/other/s/transcript.jsonl", timed), Some("amplifier"));
    assert_eq!(whose("/h/sessions/s/a.jsonl", line), Some("plain"));
    let event = "{\"ts\":\"x\",\"lvl\":\"INFO\",\"schema\":{\"name\":\"amplifier.log\",\"ver\":\"1.0.0\"},\"event\":\"session:start\",\"session_id\":\"s\"}\n";
    assert_eq!(whose("/h/sessions/s/events.jsonl", event), None);
}

const HISTORY: &str =
    "/h/.ak-coder/history/workspaces/shop-0a1b2c3d4e5f/session-1772442000000.jsonl";

#[test]
fn ak_coder_writes_messages_of_openais_api() {
    let line = r#"{"role":"user","content":"see","images":["a.png",{"data":"x"}]}"#;
    let image = |value: &str| Part::Other { value: data(value) };
    let parts = vec![text("see"), image("\"a.png\""), image(r#"{"data":"x"}"#)];
    let expected = Message::parts(Role::User, parts);
    assert_eq!(view("ak-coder", "user_message", line), Some(expected));
    let line = r#"{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{\"n\":1.0}"}}]}"#;
    let expected = Message::parts(Role::Assistant, vec![call("c", "ls", r#"{"n":1.0}"#)]);
    assert_eq!(view("ak-coder", "assistant_message", line), Some(expected));
    let read = record("ak-coder", HISTORY, line);
    assert_eq!(read.effect.calls, [opens("c", "ls")]);
    assert_eq!(read.facts.created, Some("2026-03-02T09:00:00Z".parse().unwrap()));
    let line = r#"{"role":"tool","content":"x","tool_call_id":"c","name":"ls"}"#;
    assert_eq!(
        view("ak-coder", "tool_result", line),
        Some(result("c", Some("ls"), "\"x\"", false))
    );
}

#[test]
fn ak_coders_files_are_recognised_by_their_path() {
    let whose = |path: &str| {
        let head = b"{\"role\":\"user\",\"content\":\"a\"}\n";
        AgentFormats(AGENT_FORMATS).detect(Path::new(path), head).map(AgentFormat::name)
    };
    assert_eq!(whose(HISTORY), Some("ak-coder"));
    assert_eq!(whose("/h/session-1772442000000.jsonl"), Some("plain"));
}

fn event(kind: &str, data: &str) -> String {
    format!(
        r#"{{"data":{data},"id":"0011223344556677","seq":3,"session_id":"s","ts":"2026-01-01T00:00:00.5Z","type":"{kind}"}}"#
    )
}

#[test]
fn pixirs_events_are_forklores_own() {
    let shown = |kind: &str, data: &str| view("pixir", kind, &event(kind, data));
    let message = Message::text(Role::User, "a");
    assert_eq!(shown("user_message", r#"{"text":"a"}"#), Some(message));
    let attached = Part::Other { value: data(r#"{"resource_id":"r"}"#) };
    let expected = Message::parts(Role::User, vec![text("a"), attached]);
    let with = r#"{"text":"a","resources":[{"resource_id":"r"}]}"#;
    assert_eq!(shown("user_message", with), Some(expected));
    let expected = Message::parts(Role::Assistant, vec![call("c", "ls", r#"{"n":1.0}"#)]);
    let called = r#"{"call_id":"c","name":"ls","args":{"n":1.0}}"#;
    assert_eq!(shown("tool_call", called), Some(expected));
    let good = r#"{"call_id":"c","ok":true,"output":"x"}"#;
    assert_eq!(shown("tool_result", good), Some(result("c", None, "\"x\"", false)));
    let bad = r#"{"call_id":"c","ok":false,"error":{"kind":"k"}}"#;
    assert_eq!(shown("tool_result", bad), Some(result("c", None, r#"{"kind":"k"}"#, true)));
    let item = r#"{"type":"reasoning","summary":[{"text":"a"},{"text":"b"}]}"#;
    let thought = Part::Reasoning {
        text: "a\nb".into(),
        provider: Some("openai".into()),
        model: Some("m".into()),
        opaque: Some(data(item)),
    };
    let expected = Message::parts(Role::Assistant, vec![thought]);
    assert_eq!(shown("reasoning", &format!(r#"{{"item":{item},"model":"m"}}"#)), Some(expected));
    let summed = shown("branch_summary", r#"{"summary":"short"}"#).unwrap();
    assert_eq!(summed.plain_text(), "[Summary of a branch that was left]\nshort");
    assert_eq!(shown("permission_decision", r#"{"call_id":"c","decision":"deny"}"#), None);
}

#[test]
fn pixirs_events_do_to_turns_and_calls_what_they_say() {
    let read =
        |kind: &str, data: &str| record("pixir", "/w/.pixir/sessions/s.ndjson", &event(kind, data));
    let user = read("user_message", r#"{"text":"a"}"#);
    assert_eq!(
        (user.effect.starts_turn, user.native_id.as_deref()),
        (true, Some("0011223344556677"))
    );
    assert_eq!(
        (user.facts.cwd.as_deref(), user.facts.native_id.as_deref()),
        (Some("/w"), Some("s"))
    );
    let call = read("tool_call", r#"{"call_id":"c","name":"ls","args":{}}"#);
    assert_eq!(call.effect.calls, [opens("c", "ls")]);
    let result = read("tool_result", r#"{"call_id":"c","ok":true}"#);
    assert_eq!(result.effect.calls, [CallStep::Close("c".into())]);
    let summary = r#"{"usage_summary":{"input_tokens":7,"output_tokens":2,"cached_tokens":5}}"#;
    let usage = read("provider_usage", summary).usage;
    assert_eq!((usage.input, usage.output, usage.cached), (7, 2, 5));
    let reported = data(&event("provider_usage", &summary.replacen('{', "{\"model\":\"m\",", 1)));
    let reported = dialect("pixir").call_usage(&EventType::PROVIDER_USAGE, &reported).unwrap();
    assert_eq!(
        (reported.call.as_deref(), reported.model.as_deref()),
        (Some("0011223344556677"), Some("m"))
    );
    assert_eq!(reported.usage, usage);
    let unknown = read("dream", "{}");
    assert_eq!(unknown.kind.as_str(), "x.pixir.dream");
    assert!(unknown.facts.irregular.is_some());
    let fork = event("session_fork", r#"{"parent_session_id":"p","child_workspace":"/c"}"#);
    let Line::Side(facts) = dialect("pixir").reader(Path::new("s.ndjson"), None).read(&fork) else {
        panic!("a fork's mark is no event")
    };
    assert_eq!((facts.copied_from.as_deref(), facts.cwd.as_deref()), (Some("p"), Some("/c")));
}

#[test]
fn pixirs_logs_are_recognised_by_their_lines() {
    let whose = |head: &str| {
        AgentFormats(AGENT_FORMATS)
            .detect(Path::new("s.ndjson"), head.as_bytes())
            .map(AgentFormat::name)
    };
    assert_eq!(whose(&event("user_message", "{}")), Some("pixir"));
    assert_eq!(whose(&event("dream", "{}")), None);
    assert_eq!(whose(r#"{"type":"user_message","data":{}}"#), None);
}

//! Converts messages of Gemini CLI, opencode and the APIs to the common form, and compares whole
//! values.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;

use forklore_core::agent_format::{AgentFormat, AgentFormats, Covers, Line, LineReader};
use forklore_core::{CallStep, Data, EventType, Message, OpenCall, Part, Role};
use forklore_formats::AGENT_FORMATS;

fn dialect(name: &str) -> &'static dyn AgentFormat {
    AgentFormats(AGENT_FORMATS).named(name).unwrap()
}

fn reader(name: &str) -> Box<dyn LineReader> {
    dialect(name).reader(Path::new("f.jsonl"), None)
}

fn data(text: &str) -> Data {
    Data::parse(text).unwrap()
}

fn view(name: &str, kind: &str, text: &str) -> Option<Message> {
    dialect(name).view(&kind.parse::<EventType>().unwrap(), &data(text))
}

fn text(text: &str) -> Part {
    Part::Text { text: text.into() }
}

fn call(id: &str, name: &str, arguments: &str) -> Part {
    Part::ToolCall { id: id.into(), name: name.into(), arguments: data(arguments) }
}

fn result(id: &str, name: Option<&str>, content: &str, is_error: bool) -> Part {
    let name = name.map(Into::into);
    Part::ToolResult {
        call_id: id.into(),
        name,
        content: data(content),
        is_error,
        synthetic: false,
    }
}

fn opens(id: &str, name: &str) -> CallStep {
    CallStep::Open(OpenCall { id: id.into(), name: name.into() })
}

const GEMINI: &str = r#"{"id":"b","timestamp":"2026-01-01T00:00:00Z","type":"gemini","content":"so","model":"m","thoughts":[{"subject":"Plan","description":"think"}],"toolCalls":[{"id":"c","name":"ls","args":{"n":1.0},"status":"success","result":[{"functionResponse":{"id":"c","name":"ls","response":{"output":"a"}}}]},{"id":"d","name":"rm","args":{},"status":"cancelled"},{"id":"e","name":"cat","status":"executing"}]}"#;

#[test]
fn gemini_messages_are_shown_with_their_calls_and_results() {
    let thought = Part::Reasoning {
        text: "Plan\nthink".into(),
        provider: Some("google".into()),
        model: Some("m".into()),
        opaque: None,
    };
    let calls = vec![
        call("c", "ls", r#"{"n":1.0}"#),
        result("c", Some("ls"), r#"{"output":"a"}"#, false),
        call("d", "rm", "{}"),
        result("d", Some("rm"), "\"\"", true),
        call("e", "cat", "{}"),
    ];
    let whole = [vec![thought, text("so")], calls.clone()].concat();
    let expected = Message::parts(Role::Assistant, whole);
    assert_eq!(view("gemini", "assistant_message", GEMINI), Some(expected));
    let reported_again = Message::parts(Role::Assistant, calls.clone());
    assert_eq!(view("gemini", "tool_call", GEMINI), Some(reported_again));
    let results = vec![calls[1].clone(), calls[3].clone()];
    assert_eq!(view("gemini", "tool_result", GEMINI), Some(Message::parts(Role::Tool, results)));
    let Line::Record(record) = reader("gemini").read(GEMINI) else { panic!() };
    let steps = [
        opens("c", "ls"),
        CallStep::Close("c".into()),
        opens("d", "rm"),
        CallStep::Close("d".into()),
        opens("e", "cat"),
    ];
    assert_eq!(record.effect.calls, steps);
}

#[test]
fn contents_of_googles_api_are_shown() {
    let user = r#"{"role":"user","parts":[{"text":"a"},{"inlineData":{"mimeType":"image/png"}}]}"#;
    let other = Part::Other { value: data(r#"{"inlineData":{"mimeType":"image/png"}}"#) };
    let expected = Message::parts(Role::User, vec![text("a"), other]);
    assert_eq!(view("gemini", "user_message", user), Some(expected));
    let model = r#"{"role":"model","parts":[{"text":"hm","thought":true},{"functionCall":{"name":"ls","args":{"a":1}}}]}"#;
    let thought = Part::Reasoning {
        text: "hm".into(),
        provider: Some("google".into()),
        model: None,
        opaque: Some(data(r#"{"text":"hm","thought":true}"#)),
    };
    let expected = Message::parts(Role::Assistant, vec![thought, call("ls", "ls", r#"{"a":1}"#)]);
    assert_eq!(view("gemini", "assistant_message", model), Some(expected));
    let answer = r#"{"role":"user","parts":[{"functionResponse":{"id":"c","name":"ls","response":{"output":"x"}}}]}"#;
    let expected =
        Message::parts(Role::Tool, vec![result("c", Some("ls"), r#"{"output":"x"}"#, false)]);
    assert_eq!(view("gemini", "tool_result", answer), Some(expected));
    assert_eq!(view("gemini", "x.gemini.info", answer), None);
}

const OPENCODE: &str = r#"{"info":{"id":"msg_b","role":"assistant","providerID":"p","modelID":"m","time":{"created":1767225600000,"completed":1767225601000}},"parts":[{"type":"step-start"},{"type":"reasoning","text":"hm"},{"type":"text","text":"so"},{"type":"text","text":"not sent","ignored":true},{"type":"tool","callID":"c","tool":"bash","state":{"status":"completed","input":{"n":1.0},"output":"done"}},{"type":"tool","callID":"d","tool":"read","state":{"status":"error","input":{},"error":"no"}},{"type":"tool","callID":"e","tool":"read","state":{"status":"running","input":{}}},{"type":"file","url":"x"},{"type":"step-finish"},{"type":"patch"}]}"#;

#[test]
fn opencode_messages_are_shown_with_what_the_model_gets() {
    let reasoning = Part::Reasoning {
        text: "hm".into(),
        provider: Some("p".into()),
        model: Some("m".into()),
        opaque: Some(data(r#"{"type":"reasoning","text":"hm"}"#)),
    };
    let parts = vec![
        reasoning,
        text("so"),
        call("c", "bash", r#"{"n":1.0}"#),
        result("c", Some("bash"), "\"done\"", false),
        call("d", "read", "{}"),
        result("d", Some("read"), "\"no\"", true),
        call("e", "read", "{}"),
        Part::Other { value: data(r#"{"type":"file","url":"x"}"#) },
    ];
    let expected = Message::parts(Role::Assistant, parts);
    assert_eq!(view("opencode", "assistant_message", OPENCODE), Some(expected));
    let Line::Record(record) = reader("opencode").read(OPENCODE) else { panic!() };
    assert_eq!(record.ts, Some("2026-01-01T00:00:00Z".parse().unwrap()));
    assert_eq!(record.effect.calls.last(), Some(&opens("e", "read")));
    assert_eq!(record.effect.calls.len(), 5);
}

#[test]
fn opencode_summaries_stand_for_what_was_before() {
    let summary = r#"{"info":{"id":"m","role":"assistant","summary":true,"time":{"created":1,"completed":2}},"parts":[{"type":"text","text":"short"}]}"#;
    let Line::Record(record) = reader("opencode").read(summary) else { panic!() };
    assert_eq!(record.kind, EventType::HISTORY_COMPACTION);
    assert_eq!(dialect("opencode").compaction(&data(summary)), Some(Covers::AllBefore));
    let shown = view("opencode", "history_compaction", summary).unwrap().plain_text();
    assert_eq!(shown, "[Summary of the conversation so far]\nshort");
    // A failed summary replaces nothing.
    let failed = summary.replace("\"summary\"", "\"error\":{\"name\":\"x\"},\"summary\"");
    let Line::Record(record) = reader("opencode").read(&failed) else { panic!() };
    assert_eq!(record.kind, EventType::ASSISTANT_MESSAGE);
}

#[test]
fn injected_messages_begin_no_turn() {
    let turns = |name: &str, line: &str| match reader(name).read(line) {
        Line::Record(record) => (record.kind.to_string(), record.effect.starts_turn),
        other => panic!("{other:?}"),
    };
    let user = |parts: &str| {
        format!(r#"{{"info":{{"id":"m","role":"user","time":{{"created":1}}}},"parts":[{parts}]}}"#)
    };
    let text = |flags: &str| user(&format!(r#"{{"type":"text","text":"x"{flags}}}"#));
    assert_eq!(turns("opencode", &text("")), ("user_message".into(), true));
    assert_eq!(turns("opencode", &text(",\"synthetic\":true")), ("user_message".into(), false));
    let question = user(r#"{"type":"compaction","auto":true}"#);
    assert_eq!(turns("opencode", &question), ("x.opencode.compaction".into(), false));
    let context =
        r#"{"id":"a","timestamp":"","type":"user","content":[{"text":"<session_context>\nx"}]}"#;
    assert_eq!(turns("gemini", context), ("user_message".into(), false));
    let info = r#"{"id":"a","timestamp":"","type":"info","content":"x"}"#;
    assert_eq!(turns("gemini", info), ("x.gemini.info".into(), false));
}

#[test]
fn anthropics_blocks_are_shown() {
    let assistant = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"c","name":"ls","input":{"a":1}}]}"#;
    let thinking = Part::Reasoning {
        text: "hm".into(),
        provider: Some("anthropic".into()),
        model: None,
        opaque: Some(data(r#"{"type":"thinking","thinking":"hm","signature":"s"}"#)),
    };
    let expected = Message::parts(Role::Assistant, vec![thinking, call("c", "ls", r#"{"a":1}"#)]);
    assert_eq!(view("plain", "assistant_message", assistant), Some(expected));
    let user = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","is_error":true,"content":[]}]}"#;
    let expected = Message::parts(Role::Tool, vec![result("c", None, "[]", true)]);
    assert_eq!(view("plain", "tool_result", user), Some(expected));
    assert_eq!(
        view("plain", "system_message", "\"be brief\""),
        Some(Message::text(Role::System, "be brief"))
    );
}

#[test]
fn each_file_is_recognised_by_its_own_agent_alone() {
    let whose = |name: &str, head: &str| {
        let found = AgentFormats(AGENT_FORMATS).detect(Path::new(name), head.as_bytes());
        found.map(|dialect| (dialect.name(), dialect.is_document(Path::new(name), head.as_bytes())))
    };
    let header = r#"{"sessionId":"s","projectHash":"p","startTime":"t","lastUpdated":"t"}"#;
    assert_eq!(whose("session-1.jsonl", header), Some(("gemini", false)));
    let document = header.replace('}', ",\n\"messages\":[{\"id\":\"a\",\"typ");
    assert_eq!(whose("session-1.json", &document), Some(("gemini", true)));
    let contents = r#"[{"role":"user","parts":[{"text":"a"}]},{"role"#;
    assert_eq!(whose("checkpoint-a.json", contents), Some(("gemini", true)));
    let export = "{\n  \"info\": {\n \"id\": \"ses_1\", \"title\": \"t\"},\n \"messages\": [{";
    assert_eq!(whose("x.json", export), Some(("opencode", true)));
    assert_eq!(
        whose("x.json", "{ \"info\": {\"id\":\"ses_1\",\"diff\":\"cut"),
        Some(("opencode", true))
    );
    let openai = r#"[{"role":"user","content":"a"},{"ro"#;
    assert_eq!(whose("x.json", openai), Some(("plain", true)));
    assert_eq!(
        whose("x.json", &format!("{{\"model\":\"m\",\"messages\":{openai}")),
        Some(("plain", true))
    );
    assert_eq!(whose("x.jsonl", "{\"role\":\"user\",\"content\":\"a\"}\n"), Some(("plain", false)));
    for nothing in [
        "{}",
        "[]",
        "[1]",
        "{\"messages\":[]}",
        "{\"messages\":[{\"role\":\"king\",\"content\":\"\"}]}",
        "{\"info\":{},\"messages\":[]}",
    ] {
        assert_eq!(whose("x.json", nothing), None, "{nothing}");
    }
}

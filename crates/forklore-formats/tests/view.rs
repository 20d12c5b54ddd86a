//! Converts stored records to messages, and compares whole values.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use forklore_core::agent_format::{AgentFormat, AgentFormats, Covers, Line};
use forklore_core::{CallStep, Data, Message, OpenCall, Part, Role};
use forklore_formats::AGENT_FORMATS;
use std::path::Path;

fn dialect(name: &str) -> &'static dyn AgentFormat {
    AgentFormats(AGENT_FORMATS).named(name).unwrap()
}

/// Returns the event type and the message that a line becomes.
fn shown(name: &str, line: &str) -> (String, Option<Message>) {
    let read = dialect(name).reader(Path::new("f.jsonl"), None).read(line);
    let Line::Record(record) = read else { panic!("{read:?}") };
    let view = dialect(name).view(&record.kind, &Data::parse(line).unwrap());
    (record.kind.to_string(), view)
}

fn data(text: &str) -> Data {
    Data::parse(text).unwrap()
}

#[test]
fn claude_records_are_shown() {
    let user = r#"{"type":"user","uuid":"a","message":{"role":"user","content":"hi"}}"#;
    let text = Message::text(Role::User, "hi");
    assert_eq!(shown("claude", user), ("user_message".into(), Some(text)));

    let thinking = r#"{"type":"thinking","thinking":"hm","signature":"s"}"#;
    let assistant = format!(
        r#"{{"type":"assistant","uuid":"b","message":{{"model":"m","content":[{thinking},{{"type":"text","text":"so"}},{{"type":"tool_use","id":"c","name":"Bash","input":{{"n":1.0}}}}]}}}}"#
    );
    let parts = vec![
        Part::Reasoning {
            text: "hm".into(),
            provider: Some("anthropic".into()),
            model: Some("m".into()),
            opaque: Some(data(thinking)),
        },
        Part::Text { text: "so".into() },
        Part::ToolCall { id: "c".into(), name: "Bash".into(), arguments: data(r#"{"n":1.0}"#) },
    ];
    let expected = Message::parts(Role::Assistant, parts);
    assert_eq!(shown("claude", &assistant), ("assistant_message".into(), Some(expected)));

    let result = r#"{"type":"user","uuid":"d","message":{"content":[{"type":"tool_result","tool_use_id":"c","is_error":true,"content":[{"type":"text","text":"no"}]}]}}"#;
    let part = Part::ToolResult {
        call_id: "c".into(),
        name: None,
        content: data(r#"[{"type":"text","text":"no"}]"#),
        is_error: true,
        synthetic: false,
    };
    let expected = Message::parts(Role::Tool, vec![part]);
    assert_eq!(shown("claude", result), ("tool_result".into(), Some(expected)));

    // A record of an unknown type is an event only if it continues another record.
    let mut reader = dialect("claude").reader(Path::new("f.jsonl"), None);
    let odd = r#"{"type":"Quantum Entry","uuid":"e","parentUuid":null}"#;
    assert!(matches!(reader.read(odd), Line::Side(_)));
    assert!(matches!(reader.read(user), Line::Record(_)));
    assert!(matches!(reader.read(odd), Line::Side(_)));
    let linked = r#"{"type":"Quantum Entry","uuid":"e","parentUuid":"a"}"#;
    let Line::Record(linked) = reader.read(linked) else { panic!("no record") };
    assert_eq!(linked.kind.as_str(), "x.claude.quantum_entry");
    assert_eq!(dialect("claude").compaction(&data(user)), Some(Covers::AllBefore));
}

#[test]
fn pi_records_are_shown() {
    let result = r#"{"type":"message","id":"a","parentId":"b","message":{"role":"toolResult","toolCallId":"c","toolName":"bash","content":"ok","isError":false}}"#;
    let part = Part::ToolResult {
        call_id: "c".into(),
        name: Some("bash".into()),
        content: data("\"ok\""),
        is_error: false,
        synthetic: false,
    };
    let expected = Message::parts(Role::Tool, vec![part]);
    assert_eq!(shown("pi", result), ("tool_result".into(), Some(expected)));

    let assistant = r#"{"type":"message","id":"a","message":{"role":"assistant","provider":"p","model":"m","content":[{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"ls"}}]}}"#;
    let call = Part::ToolCall {
        id: "c".into(),
        name: "bash".into(),
        arguments: data(r#"{"command":"ls"}"#),
    };
    let expected = Message::parts(Role::Assistant, vec![call]);
    assert_eq!(shown("pi", assistant), ("assistant_message".into(), Some(expected)));

    let system = r#"{"type":"message","id":"a","message":{"role":"system","content":"","sections":{"b":"two","a":"one","c":null}}}"#;
    let expected = Message::text(Role::System, "one\n\ntwo");
    assert_eq!(shown("pi", system), ("system_message".into(), Some(expected)));

    let compaction = r#"{"type":"compaction","id":"k","summary":"short","firstKeptEntryId":"j"}"#;
    let expected = Message::text(Role::User, "[Summary of the conversation so far]\nshort");
    assert_eq!(shown("pi", compaction), ("history_compaction".into(), Some(expected)));
    let covers = |text: &str| dialect("pi").compaction(&data(text));
    assert_eq!(covers(compaction), Some(Covers::Before("j".into())));
    let own = r#"{"type":"compaction","id":"k","firstKeptEntryId":"k"}"#;
    assert_eq!(covers(own), Some(Covers::AllBefore));
    // The first version of Pi's format refers to lines by number.
    let old = |index: u32| format!(r#"{{"type":"compaction","firstKeptEntryIndex":{index}}}"#);
    assert_eq!(covers(&old(3)), Some(Covers::BeforeIndex(2)));
    assert_eq!(covers(&old(0)), Some(Covers::AllBefore));
}

#[test]
fn plain_messages_are_shown_in_both_forms_of_calls() {
    let openai = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{\"path\": 1}"}}]}"#;
    let ours = r#"{"role":"assistant","content":[{"type":"tool_call","id":"c","name":"ls","arguments":{"path": 1}}]}"#;
    let call =
        Part::ToolCall { id: "c".into(), name: "ls".into(), arguments: data(r#"{"path": 1}"#) };
    let expected = Message::parts(Role::Assistant, vec![call]);
    for line in [openai, ours] {
        assert_eq!(shown("plain", line), ("assistant_message".into(), Some(expected.clone())));
        let Line::Record(record) = dialect("plain").reader(Path::new("f"), None).read(line) else {
            panic!("no record");
        };
        let call = OpenCall { id: "c".into(), name: "ls".into() };
        assert_eq!(record.effect.calls, [CallStep::Open(call)]);
    }
    let result = r#"{"role":"tool","tool_call_id":"c","content":"ok"}"#;
    assert_eq!(shown("plain", result).1.unwrap().role, Role::Tool);
}

#[test]
fn files_are_distinguished() {
    let detect = |head: &str| {
        let found = AgentFormats(AGENT_FORMATS).detect(Path::new("f.jsonl"), head.as_bytes());
        found.map(AgentFormat::name)
    };
    let pi = r#"{"type":"session","id":"x","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}"#;
    assert_eq!(detect(pi), Some("pi"));
    assert_eq!(detect(&format!("\u{feff}garbage\n\0\0{pi}\r\n")), Some("pi"));
    assert_eq!(detect(r#"{"type":"summary","summary":"s","leafUuid":"l"}"#), Some("claude"));
    let user = r#"{"type":"user","uuid":"u","message":{"role":"user","content":"hi"}}"#;
    assert_eq!(detect(user), Some("claude"));
    // A message without content cannot be read.
    assert_eq!(detect(r#"{"type":"user","uuid":"u","message":{"role":"user"}}"#), None);
    assert_eq!(detect(r#"{"type":"tick","sessionId":"s"}"#), None);
    assert_eq!(detect(r#"{"role":"user","content":"hi"}"#), Some("plain"));
    assert_eq!(detect(r#"{"type":"user","content":"gemini","id":"1"}"#), None);
    let meta = r#"{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}"#;
    assert_eq!(detect(meta), Some("codex"));
    assert_eq!(detect("{\"id\":\"x\"}\n{\"record_type\":\"state\"}\n"), Some("codex"));
    assert_eq!(detect(r#"{"id":"x","thread_name":"n","updated_at":"t"}"#), None);
    assert_eq!(detect("notes\n"), None);
    let long = format!("{{\"parentUuid\":null,\"sessionId\":\"s\",\"x\":\"{}", "y".repeat(70_000));
    assert_eq!(detect(&long), Some("claude"));
    let (begun, text) = ("{\"parentUuid\":null,\"sessionId\":\"s\",", "y".repeat(70_000));
    let foreign = format!("{begun}\"message\":{{\"role\":\"user\",\"parts\":[{{\"text\":\"{text}");
    assert_eq!(detect(&foreign), Some("qwen"));
}

#[test]
fn similar_records_are_attributed_to_their_agents() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let session = "-home-dev-projects-lookalike/7d2c1b0a-2222-4333-8444-955556666777.jsonl";
    let in_chats = session.replace('/', "/chats/");
    for (path, writer) in [
        (format!("qwen/older/projects/{in_chats}"), "qwen"),
        (
            format!(
                "qwen/older/projects/{}",
                in_chats.replace("7d2c1b0a-2222-4333-8444-955556666777", "only-system")
            ),
            "qwen",
        ),
        (format!("droid/sessions/{session}"), "droid"),
        (
            format!(
                "droid/sessions/{}",
                session.replace("7d2c1b0a-2222-4333-8444-955556666777", "without-its-beginning")
            ),
            "droid",
        ),
    ] {
        let path = testdata.join(path);
        let head = std::fs::read(&path).unwrap();
        let formats = AgentFormats(AGENT_FORMATS);
        let found: Vec<_> = formats
            .0
            .iter()
            .filter(|format| format.detect(&path, &head))
            .map(|format| format.name())
            .collect();
        assert_eq!(found, [writer], "{}", path.display());
    }
}

#[test]
fn titles_given_by_people_outlive_those_thought_up() {
    let title = |reader: &mut dyn forklore_core::agent_format::LineReader, line: &str| {
        let Line::Side(facts) = reader.read(line) else { panic!("no side record") };
        facts.title
    };
    let given = r#"{"type":"custom-title","customTitle":"mine","sessionId":"s"}"#;
    let thought_up = r#"{"type":"ai-title","aiTitle":"theirs","sessionId":"s"}"#;
    let mut reader = dialect("claude").reader(Path::new("f.jsonl"), None);
    assert_eq!(title(&mut *reader, thought_up), Some("theirs".into()));
    assert_eq!(title(&mut *reader, given), Some("mine".into()));
    assert_eq!(title(&mut *reader, thought_up), None);
    let memory = reader.memory();
    let mut later = dialect("claude").reader(Path::new("f.jsonl"), memory.as_deref());
    assert_eq!(title(&mut *later, thought_up), None);
}

//! The events that Codex's lines become, and the messages that the events are converted to.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;

use forklore_core::agent_format::{
    AgentFormat, Base, Covers, FileFacts, Line, LineReader, Parent, Record,
};
use forklore_core::{CallStep, Class, Content, Data, Message, OpenCall, Part, Role};
use forklore_formats::codex::Codex;

const A: &str = "01a1ffec-705a-7580-a2e1-49e6a681cc47";
const B: &str = "01a1ffec-7367-70f3-8a36-b01004bf352f";

fn reader(name: &str) -> Box<dyn LineReader> {
    Codex.reader(Path::new(name), None)
}

fn record(reader: &mut dyn LineReader, line: &str) -> Record {
    match reader.read(line) {
        Line::Record(record) => *record,
        other => panic!("{line}: {other:?}"),
    }
}

fn side(reader: &mut dyn LineReader, line: &str) -> FileFacts {
    match reader.read(line) {
        Line::Side(facts) => facts,
        other => panic!("{line}: {other:?}"),
    }
}

fn data(text: &str) -> Data {
    Data::parse(text).unwrap()
}

/// Returns the event type and class of an item in an envelope, whether the item begins a turn, and
/// its message.
fn item(payload: &str) -> (String, Class, bool, Option<Message>) {
    let line = format!(r#"{{"type":"response_item","payload":{payload}}}"#);
    let read = record(&mut *reader("f.jsonl"), &line);
    let view = Codex.view(&read.kind, &data(&line));
    (read.kind.to_string(), read.class, read.effect.starts_turn, view)
}

fn message_line(role: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"{text}"}}]}}"#
    )
}

#[test]
fn only_a_persons_message_begins_a_turn() {
    let starts = |payload: &str| {
        let (kind, class, starts, _) = item(payload);
        assert_eq!((kind.as_str(), class), ("user_message", Class::Conversation));
        starts
    };
    assert!(starts(&message_line("user", "hi")));
    assert!(starts(&message_line("user", "# Context from my IDE setup:")));
    assert!(starts(r#"{"type":"message","role":"user","content":[{"type":"input_image"}]}"#));
    assert!(starts(r#"{"role":"user","content":"hi"}"#));
    for injected in ["<environment_context>\\n x", "# AGENTS.md instructions for /w", "<skill>"] {
        assert!(!starts(&message_line("user", injected)), "{injected}");
    }
    assert!(!starts(r#"{"type":"message","role":"user","content":[]}"#));
    // Newer versions of Codex record the kind of each part of a message.
    let kinds = |kind: &str| {
        message_line("user", "<skill>").replace(
            "}]}",
            &format!(r#"}}],"internal_chat_message_metadata_passthrough":{{"content_item_kinds":["{kind}"]}}}}"#),
        )
    };
    assert!(starts(&kinds("user.text")));
    assert!(!starts(&kinds("environments.environment_context")));
    assert_eq!(item(&message_line("developer", "rules")).0, "system_message");
    assert_eq!(item(&message_line("assistant", "yes")).0, "assistant_message");
    assert_eq!(item(r#"{"type":"ghost_snapshot"}"#).0, "x.codex.ghost_snapshot");
}

#[test]
fn calls_and_results_are_shown_and_paired() {
    let call =
        r#"{"type":"function_call","name":"exec","arguments":"{\"cmd\": \"ls\"}","call_id":"c"}"#;
    let part = |arguments: &str, name: &str| Part::ToolCall {
        id: "c".into(),
        name: name.into(),
        arguments: data(arguments),
    };
    let shown = |payload: &str| {
        let (kind, _, _, view) = item(payload);
        let Content::Parts(parts) = view.unwrap().content else { panic!("{payload}") };
        (kind, parts)
    };
    assert_eq!(shown(call), ("tool_call".into(), vec![part(r#"{"cmd": "ls"}"#, "exec")]));
    let custom =
        r#"{"type":"custom_tool_call","name":"apply_patch","input":"*** x","call_id":"c"}"#;
    assert_eq!(shown(custom).1, [part(r#""*** x""#, "apply_patch")]);
    let shell =
        r#"{"type":"local_shell_call","id":"c","call_id":null,"action":{"command":["ls"]}}"#;
    assert_eq!(shown(shell).1, [part(r#"{"command":["ls"]}"#, "local_shell")]);
    let search = r#"{"type":"web_search_call","action":{"query":"q"}}"#;
    assert_eq!(
        shown(search),
        ("assistant_message".into(), vec![Part::Other { value: data(search) }])
    );

    let result = |output: &str| {
        format!(r#"{{"type":"function_call_output","call_id":"c","output":{output}}}"#)
    };
    for (output, is_error) in [("\"ok\"", false), (r#"{"content":"no","success":false}"#, true)] {
        let part = Part::ToolResult {
            call_id: "c".into(),
            name: None,
            content: data(output),
            is_error,
            synthetic: false,
        };
        assert_eq!(shown(&result(output)), ("tool_result".into(), vec![part]));
    }
    let steps = |payload: &str| {
        let line = format!(r#"{{"type":"response_item","payload":{payload}}}"#);
        record(&mut *reader("f.jsonl"), &line).effect.calls
    };
    let open = OpenCall { id: "c".into(), name: "exec".into() };
    assert_eq!(steps(call), [CallStep::Open(open)]);
    assert_eq!(steps(&result("\"ok\"")), [CallStep::Close("c".into())]);
    assert_eq!(steps(search), []);
}

#[test]
fn reasoning_keeps_what_its_provider_wants_back() {
    let payload = r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"content":null,"encrypted_content":"x"}"#;
    let (kind, _, _, view) = item(payload);
    let part = Part::Reasoning {
        text: "a\n\nb".into(),
        provider: Some("openai".into()),
        model: None,
        opaque: Some(data(payload)),
    };
    let expected = Message { role: Role::Assistant, content: Content::Parts(vec![part]) };
    assert_eq!((kind.as_str(), view), ("reasoning", Some(expected)));
}

#[test]
fn a_compaction_replaces_everything_before_it() {
    let user = message_line("user", "first");
    let line = format!(
        r#"{{"type":"compacted","payload":{{"message":"short","replacement_history":[{user},{}]}}}}"#,
        message_line("developer", "rules")
    );
    let read = record(&mut *reader("f.jsonl"), &line);
    assert_eq!(read.kind.as_str(), "history_compaction");
    assert_eq!(Codex.compaction(&data(&line)), Some(Covers::AllBefore));
    let summary = Message::text(Role::User, "short");
    assert_eq!(Codex.view(&read.kind, &data(&line)), Some(summary.clone()));
    let history = [Message::text(Role::User, "first"), Message::text(Role::System, "rules")];
    assert_eq!(Codex.instead(&data(&line)), history);
    let older = r#"{"type":"compacted","payload":{"message":"short"}}"#;
    assert_eq!(Codex.instead(&data(older)), [summary]);
}

#[test]
fn display_events_are_no_second_conversation() {
    let of = |line: &str| {
        let read = record(&mut *reader("f.jsonl"), line);
        (read.kind.to_string(), read.class, Codex.view(&read.kind, &data(line)))
    };
    let event = |kind: &str| {
        of(&format!(r#"{{"type":"event_msg","payload":{{"type":"{kind}","message":"x"}}}}"#))
    };
    for kind in ["user_message", "agent_message", "item_completed", "task_started", "turn_aborted"]
    {
        assert_eq!(event(kind), (format!("x.codex.{kind}"), Class::Evidence, None));
    }
    assert_eq!(event("brand_new"), ("x.codex.brand_new".into(), Class::Audit, None));
    let context = of(r#"{"type":"turn_context","payload":{"cwd":"/"}}"#);
    assert_eq!(context, ("x.codex.turn_context".into(), Class::Evidence, None));
    let new = of(r#"{"type":"realtime_item","payload":{}}"#);
    assert_eq!(new, ("x.codex.realtime_item".into(), Class::Audit, None));
}

#[test]
fn a_call_of_the_model_is_counted_once() {
    let mut reader = reader("f.jsonl");
    let tokens =
        |n: u32| format!(r#"{{"input_tokens":{n},"cached_input_tokens":1,"output_tokens":2}}"#);
    let count = |total, last| {
        format!(
            r#"{{"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{},"last_token_usage":{}}}}}}}"#,
            tokens(total),
            tokens(last)
        )
    };
    let call = |n, total| {
        format!(
            r#"{{"type":"token_usage_record","payload":{{"usage":{},"thread_token_usage":{}}}}}"#,
            tokens(n),
            tokens(total)
        )
    };
    let mut usage = |line: String| {
        let read = record(&mut *reader, &line);
        (read.kind.to_string(), read.class, read.usage.input)
    };
    let once = |n| ("provider_usage".to_owned(), Class::Audit, n);
    let again = ("x.codex.token_count".to_owned(), Class::Audit, 0);
    assert_eq!(usage(call(100, 100)), once(100));
    assert_eq!(usage(count(100, 100)), again);
    assert_eq!(usage(count(150, 50)), once(50));
    assert_eq!(usage(count(150, 50)), again);
    let limits = r#"{"type":"event_msg","payload":{"type":"token_count","info":null}}"#;
    assert_eq!(usage(limits.into()), again);
}

fn meta(id: &str, more: &str) -> String {
    format!(
        r#"{{"timestamp":"2026-11-21T21:04:08.558Z","ordinal":39,"type":"session_meta","payload":{{"id":"{id}","timestamp":"2026-11-21T21:04:08.551Z","cwd":"/w"{more}}}}}"#
    )
}

#[test]
fn the_first_line_says_whose_session_it_is() {
    let name = format!("rollout-2026-11-21T21-04-08-{A}_{B}.jsonl");
    let mut reader = reader(&name);
    let base = format!(
        r#","history_mode":"paginated","history_base":{{"thread_id":"{A}","end_ordinal_exclusive":39,"end_byte_offset":50685}}"#
    );
    let facts = side(&mut *reader, &meta(A, &base));
    let expected = FileFacts {
        native_id: Some(B.into()),
        cwd: Some("/w".into()),
        created: Some("2026-11-21T21:04:08.551Z".parse().unwrap()),
        base: Some(Base { native_id: A.into(), end: 39, after: None, bytes: Some(50_685) }),
        leaf_of: Some(A.into()),
        ..FileFacts::default()
    };
    assert_eq!(facts, expected);
    let spawned = format!(
        r#","source":{{"subagent":{{"thread_spawn":{{"parent_thread_id":"{B}","depth":1}}}}}}"#
    );
    let called = side(&mut *self::reader("f.jsonl"), &meta(A, &spawned));
    assert_eq!(called.caller.as_deref(), Some(B));
    // The header of a review names only the conversation that the review belongs to, because no
    // thread was spawned.
    let review = format!(r#","session_id":"{B}","source":{{"subagent":"review"}}"#);
    let called = side(&mut *self::reader("f.jsonl"), &meta(A, &review));
    assert_eq!(called.caller.as_deref(), Some(B));
    let own = format!(r#","session_id":"{A}","source":"cli""#);
    assert_eq!(side(&mut *self::reader("f.jsonl"), &meta(A, &own)).caller, None);
    // A fork that is a copy contains its own header, followed by the header of the original.
    let copied = FileFacts { copied_from: Some(B.into()), ..FileFacts::default() };
    assert_eq!(side(&mut *reader, &meta(B, "")), copied);
    assert_eq!(Codex.names(Path::new(&format!("/h/sessions/1/2/3/{name}"))).unwrap().1, A);
}

#[test]
fn strange_records_are_reported() {
    let name = format!("rollout-2026-11-21T21-04-08-{A}.jsonl");
    let first = |line: &str| match reader(&name).read(line) {
        Line::Side(facts) => facts,
        Line::Record(record) => record.facts,
        other => panic!("{other:?}"),
    };
    let why = |line: &str| first(line).irregular.unwrap_or_default();
    assert_eq!(why(&meta(A, r#","history_mode":"legacy""#)), "");
    assert!(why(&meta(A, r#","history_mode":"woven""#)).contains("\"woven\""));
    assert!(why(&meta(B, "")).contains(B));
    let lost = r#"{"type":"event_msg","payload":{"type":"task_started"}}"#;
    assert!(why(lost).contains("whose session"));
    assert_eq!(first(lost).native_id.as_deref(), Some(A));
    let mut reader = reader(&name);
    let at = |n: u32| format!(r#"{{"ordinal":{n},"type":"turn_context","payload":{{}}}}"#);
    side(&mut *reader, &meta(A, ""));
    let keys: Vec<_> = [40, 41, 41, 40, 43]
        .map(|n| record(&mut *reader, &at(n)))
        .map(|read| (read.key, read.facts.irregular.is_some()))
        .into();
    let key = |n: &str| (Some(n.to_owned()), false);
    assert_eq!(keys, [key("40"), key("41"), (None, true), (None, true), key("43")]);
}

#[test]
fn files_of_early_2025_have_no_envelopes() {
    let mut reader = reader("x.jsonl");
    let first = r#"{"id":"s","timestamp":"2025-05-07T17:24:21.000Z","instructions":null}"#;
    let facts = side(&mut *reader, first);
    assert_eq!((facts.native_id.as_deref(), facts.irregular), (Some("s"), None));
    assert_eq!(side(&mut *reader, r#"{"record_type":"state"}"#), FileFacts::default());
    let line = message_line("user", "hi");
    let read = record(&mut *reader, &line);
    assert!(read.effect.starts_turn);
    assert_eq!(read.ts, facts.created);
    assert_eq!(Codex.view(&read.kind, &data(&line)), Some(Message::text(Role::User, "hi")));
}

/// Returns the parents of the rollbacks in a file. Before the step `cut`, the reader is created
/// again from its state. Each character of `script` is a step: `t` is a turn, `s` the start of a
/// task, a digit a rollback of that many turns, and `.` another event.
fn rollbacks(script: &str, cut: usize) -> Vec<Parent> {
    let mut reader = reader("x.jsonl");
    let mut parents = Vec::new();
    for (at, step) in script.chars().enumerate() {
        if at == cut {
            // A reader that begins with the state from before the last step, and reads that step
            // again, gets the same state.
            let (memory, before) = (reader.memory(), reader.memory_before());
            let again = Codex.reader(Path::new("x.jsonl"), before.as_deref());
            let steps: Vec<char> = script.chars().collect();
            let mut other = again;
            if let Some(last) = at.checked_sub(1).and_then(|at| steps.get(at)) {
                step_into(&mut *other, *last);
                assert_eq!(other.memory(), memory, "{script} at {at}");
            }
            reader = Codex.reader(Path::new("x.jsonl"), memory.as_deref());
        }
        parents.extend(step_into(&mut *reader, step));
    }
    parents
}

fn step_into(reader: &mut dyn LineReader, step: char) -> Option<Parent> {
    let event = |payload: String| format!(r#"{{"type":"event_msg","payload":{payload}}}"#);
    let line = match step {
        's' => event(r#"{"type":"task_started"}"#.into()),
        't' => format!(r#"{{"type":"response_item","payload":{}}}"#, message_line("user", "hi")),
        '.' => event(r#"{"type":"agent_message"}"#.into()),
        n => event(format!(r#"{{"type":"thread_rolled_back","num_turns":{n}}}"#)),
    };
    let read = record(reader, &line);
    step.is_ascii_digit().then_some(read.parent)
}

#[test]
fn a_rollback_goes_on_from_before_the_turns_it_takes_back() {
    let id = |n: u32| Parent::Id(n.to_string());
    for cut in 0..12 {
        // The second turn begins with its task, but the first turn begins with its message.
        assert_eq!(rollbacks("s.t.s.t.1", cut), [id(3)]);
        assert_eq!(rollbacks("s.t.s.t.2", cut), [id(1)]);
        assert_eq!(rollbacks("s.t.s.t.9", cut), [id(1)]);
        assert_eq!(rollbacks("s.t.s.t.0", cut), [Parent::Previous]);
        // Two messages of one task are two turns.
        assert_eq!(rollbacks("s.t.s.t.t1", cut), [id(7)]);
        // After a second rollback, the next turn is another branch at the same position.
        assert_eq!(rollbacks("t.s.t.1s.t1", cut), [id(1), id(1)]);
        assert_eq!(rollbacks("t.s.t.1.s.t1", cut), [id(1), id(7)]);
        // The first turn is rolled back too, so nothing precedes.
        assert_eq!(rollbacks("t1", cut), [Parent::None]);
        assert_eq!(rollbacks("1", cut), [Parent::Previous]);
    }
}

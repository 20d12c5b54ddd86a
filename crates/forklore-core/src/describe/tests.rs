use serde_json::{Value, json};

use super::*;
use crate::{Data, Role};

fn data(value: &Value) -> Data {
    Data::of(value).unwrap()
}

fn call(name: &str, arguments: &Value) -> String {
    let (id, name) = ("c".to_owned(), name.to_owned());
    Describer::in_folder("/work").part(&Part::ToolCall { id, name, arguments: data(arguments) })
}

#[test]
fn calls_of_every_agent_say_what_they_are_about() {
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n fn a\n-old\n+new\n+more\n\
                 *** Add File: b.rs\n+b\n*** End Patch";
    let edits = json!([{"oldText": "a", "newText": "b"}, {"oldText": "c\nd", "newText": "d"}]);
    let todos = json!([{"content": "a", "status": "completed"}, {"content": "b"}]);
    let long = "é".repeat(1_000);
    let calls = [
        ("Bash", json!({"command": "ls -la", "description": "List"}), "Bash ls -la"),
        ("Bash", json!({"command": "cat <<E\na\nE"}), "Bash cat <<E (+2 lines)"),
        ("Read", json!({"file_path": "/work/src/a.rs", "limit": 5}), "Read src/a.rs"),
        ("Read", json!({"file_path": "/workshop/a.rs"}), "Read /workshop/a.rs"),
        (
            "Edit",
            json!({"file_path": "/work/a.rs", "old_string": "a\nb\nc", "new_string": "a\nx\ny\nz\nc"}),
            "Edit a.rs +3 -1",
        ),
        (
            "MultiEdit",
            json!({"file_path": "a", "edits": [{"old_string": "a", "new_string": "b"}]}),
            "MultiEdit a +1 -1",
        ),
        ("Write", json!({"file_path": "/work/a.rs", "content": "a\nb\n"}), "Write a.rs +2"),
        ("Grep", json!({"pattern": "fn \\w+", "path": "/work/src"}), "Grep fn \\w+ in src"),
        ("Glob", json!({"pattern": "**/*.rs"}), "Glob **/*.rs"),
        (
            "Task",
            json!({"subagent_type": "x", "prompt": "Look.\nFar.", "description": "Look around"}),
            "Task Look around",
        ),
        ("WebFetch", json!({"url": "https://a.org", "prompt": "what?"}), "WebFetch https://a.org"),
        ("TodoWrite", json!({"todos": todos}), "TodoWrite 2 items, 1 done"),
        ("shell", json!({"command": ["bash", "-lc", "ls | wc"]}), "shell ls | wc"),
        (
            "shell",
            json!({"command": ["apply_patch", patch]}),
            "shell src/a.rs and 1 more file +3 -1",
        ),
        ("exec_command", json!("{\"cmd\": \"ls\", \"workdir\": \"/x\"}"), "exec_command ls"),
        ("apply_patch", json!(patch), "apply_patch src/a.rs and 1 more file +3 -1"),
        ("apply_patch", json!({"input": patch}), "apply_patch src/a.rs and 1 more file +3 -1"),
        (
            "update_plan",
            json!({"plan": [{"step": "a", "status": "done"}]}),
            "update_plan 1 item, 1 done",
        ),
        ("run_shell_command", json!({"command": "ls"}), "run_shell_command ls"),
        ("read_file", json!({"absolute_path": "/work/a"}), "read_file a"),
        ("replace", json!({"file_path": "a", "old_string": "", "new_string": "b"}), "replace a +1"),
        ("write_file", json!({"file_path": "a", "content": "b"}), "write_file a +1"),
        ("list_directory", json!({"path": "."}), "list_directory ."),
        (
            "edit",
            json!({"filePath": "/work/a", "oldString": "a", "newString": "b"}),
            "edit a +1 -1",
        ),
        ("edit", json!({"path": "a", "edits": edits}), "edit a +1 -2"),
        ("LS", json!({"directory_path": "/work/src"}), "LS src"),
        ("editor", json!({"command": "view", "path": "/work/a"}), "editor view a"),
        ("investigate", json!({"task": "How many?"}), "investigate How many?"),
        ("mcp__x", json!({"n": 3, "deep": [1], "who": "me"}), "mcp__x n=3 who=me"),
        ("mcp__x", json!({"deep": [1]}), "mcp__x {\"deep\":[1]}"),
        ("now", json!({}), "now"),
        ("now", json!(null), "now"),
        ("say", json!([1, 2]), "say [1,2]"),
        ("say", json!({"text": long}), &format!("say {}", "é".repeat(LONGEST / 2))),
    ];
    for (tool, arguments, expected) in calls {
        assert_eq!(call(tool, &arguments), format!("→ {expected}"), "{arguments}");
    }
}

fn result(content: &Value, is_error: bool, synthetic: bool) -> String {
    let mut describer = Describer::default();
    describer.open("c", "Bash");
    let (call_id, name, content) = ("c".to_owned(), None, data(content));
    describer.part(&Part::ToolResult { call_id, name, content, is_error, synthetic })
}

#[test]
fn results_say_their_tool_their_size_and_their_failure() {
    let long = "twelve chars".repeat(100);
    let image = json!({"type": "image", "source":
        {"type": "base64", "media_type": "image/png", "data": "A".repeat(16_000)}});
    let results = [
        (json!("a\nb\n"), false, "Bash 2 lines, 3 B"),
        (json!("ok"), false, "Bash: ok"),
        (json!(""), false, "Bash: no output"),
        (json!("no such file"), true, "Bash failed: no such file"),
        (json!("a\nb"), true, "Bash failed, 2 lines, 3 B: a b"),
        (json!(long), false, "Bash 1 line, 1.2 kB"),
        (json!([{"type": "text", "text": "done"}, image]), false, "Bash 2 lines, 31 B"),
        (json!([image]), false, "Bash: [image image/png, 12.0 kB]"),
        (json!({"output": "7"}), false, "Bash: 7"),
        (json!({"error": "gone"}), false, "Bash failed: gone"),
        (json!("{\"output\":\"no\",\"metadata\":{\"exit_code\":1}}"), false, "Bash failed: no"),
        (json!({"odd": 1}), false, "Bash: {\"odd\":1}"),
    ];
    for (content, is_error, expected) in results {
        assert_eq!(result(&content, is_error, false), format!("← {expected}"));
    }
    assert_eq!(result(&json!("not run"), true, true), "← Bash (synthetic): not run");
}

#[test]
fn a_message_is_one_line_and_its_thinking_a_size() {
    let text = |text: &str| Part::Text { text: text.to_owned() };
    let thinking = |text: &str| Part::Reasoning {
        text: text.to_owned(),
        provider: None,
        model: None,
        opaque: None,
    };
    let parts = vec![
        thinking("Let me think."),
        thinking(""),
        text("Hello\n\n  there"),
        Part::ToolCall { id: "1".into(), name: "ls".into(), arguments: data(&json!({})) },
        Part::Other { value: data(&json!({"type": "odd"})) },
    ];
    let mut describer = Describer::default();
    assert_eq!(
        describer.message(&Message { role: Role::Assistant, content: Content::Parts(parts) }),
        "(thinking, 13 B) (thinking, not readable) Hello there → ls {\"type\":\"odd\"}"
    );
    let done = |call_id: &str| Part::ToolResult {
        call_id: call_id.to_owned(),
        name: None,
        content: data(&json!("x")),
        is_error: false,
        synthetic: false,
    };
    assert_eq!(
        [describer.part(&done("1")), describer.part(&done("2"))],
        ["← ls: x", "← result: x"]
    );
}

#[test]
fn deep_arguments_are_no_problem() {
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let arguments = Data::parse(&deep).unwrap();
    let part = Part::ToolCall { id: "1".into(), name: "x".into(), arguments };
    assert_eq!(Describer::default().part(&part).len(), "→ x ".len() + LONGEST);
}

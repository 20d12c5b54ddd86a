//! Opens a page that the program wrote in a real browser: it is accessible in light and dark, narrow
//! and wide, it requests nothing, and hostile text stays text.

use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Texts that try to be more than text, one JSON string in each line.
const HOSTILE: &str = include_str!("browser/hostile.jsonl");

/// Creates a session with two branches. Each text is a message of the user, of the model, a call of
/// a tool and its result.
fn with_hostile_texts() -> Sandbox {
    let sandbox = Sandbox::with_default_store();
    let texts: Vec<Value> =
        HOSTILE.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    sandbox.ok(&["new", "--id", "plan-1"]);
    let lines = texts.iter().flat_map(|text| {
        let call =
            json!({"type": "tool_call", "id": "c", "name": text, "arguments": {"command": text}});
        let answer =
            json!([{"type": "reasoning", "text": text}, {"type": "text", "text": text}, call]);
        [
            json!({"type": "user_message", "data": {"content": text}}),
            json!({"type": "assistant_message", "data": {"content": answer}}),
            json!({"type": "tool_result", "data": {"call_id": "c", "name": text, "content": text}}),
        ]
    });
    let lines: String = lines.map(|line| format!("{line}\n")).collect();
    let ran = sandbox.append("plan-1", &lines);
    assert_eq!(ran.code, 0, "{ran:?}");
    let title = texts[0].as_str().unwrap();
    sandbox.ok(&["fork", "plan-1", "--id", "plan-2", "--label", "plan-b", "--title", title]);
    sandbox.ok(&["append", "plan-2", "--text", "In the other branch."]);
    sandbox
}

#[test]
fn an_exported_page_is_accessible_and_its_hostile_text_is_inert() {
    let sandbox = with_hostile_texts();
    let page = sandbox.path().join("page.html");
    sandbox.ok(&["export", "plan-2", "--to", "html", "-o", page.to_str().unwrap()]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/browser");
    let variables = [("FORKLORE_PAGE", page), ("FORKLORE_HOSTILE", folder.join("hostile.jsonl"))];
    let printed = forklore_browser::passes(&folder.join("page.py"), &variables)
        .unwrap_or_else(|failed| panic!("{failed}"));
    assert!(printed.contains("20 passed"), "{printed}");
}

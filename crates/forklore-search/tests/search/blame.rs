//! Which tool calls name a file.

use forklore_api::Blame;
use forklore_core::EventType;
use forklore_engine::{DeleteMode, Engine};
use forklore_search::SearchIndex;
use serde_json::{Value, json};

use crate::world::{KINDS, create, delete, fork, line, say};

fn call(engine: &Engine, session: &str, tool: &str, arguments: &Value) {
    let call = json!({"id": "c", "name": tool, "arguments": arguments});
    say(engine, session, EventType::TOOL_CALL, &call);
    say(engine, session, EventType::TOOL_RESULT, &json!({"call_id": "c", "content": "src/a.rs"}));
}

fn touches(engine: &Engine, path: &str) -> Vec<String> {
    let answer = SearchIndex::of(engine).blame(&Blame::of(path)).unwrap();
    assert!(!answer.more && answer.problems.is_empty());
    let hits = answer.hits.iter();
    hits.map(|hit| format!("{} {}", hit.tool.as_deref().unwrap_or_default(), line(hit))).collect()
}

#[test]
fn calls_of_all_tools_are_found_by_relative_and_absolute_paths() {
    for kind in KINDS {
        let folder = tempfile::tempdir().unwrap();
        let engine = kind.open(folder.path());
        create(&engine, "main", "/w");
        call(&engine, "main", "Edit", &json!({"file_path": "/w/src/a.rs", "new_string": "x"}));
        call(&engine, "main", "apply_patch", &json!({"input": "*** Update File: src/a.rs\n"}));
        fork(&engine, "main", "end", "child");
        create(&engine, "other", "/w/src");
        call(&engine, "other", "read", &json!({"paths": ["b.rs", "./a.rs"]}));
        call(&engine, "other", "shell", &json!({"command": "sed -i s/x/y/ a.rs"}));
        let all = [
            "read other:0 in other",
            "apply_patch main:2 in main child",
            "Edit main:0 in main child",
        ];
        assert_eq!(touches(&engine, "/w/src/a.rs"), all, "{kind:?}");
        assert_eq!(touches(&engine, "/w/src/../src/a.rs"), all);
        assert_eq!(touches(&engine, "/w/src/b.rs"), ["read other:0 in other"]);
        assert_eq!(touches(&engine, "/src/a.rs"), [""; 0]);
        delete(&engine, "main", DeleteMode::DetachChildren);
        delete(&engine, "other", DeleteMode::Cascade);
        let left = ["apply_patch child:3 in child", "Edit child:1 in child"];
        assert_eq!(touches(&engine, "/w/src/a.rs"), left);
        assert_eq!(touches(&engine, "/w/src/b.rs"), [""; 0]);
        let some = Blame { limit: 1, ..Blame::of("/w/src/a.rs") };
        let some = SearchIndex::of(&engine).blame(&some).unwrap();
        assert_eq!((some.hits.len(), some.more), (1, true));
    }
}

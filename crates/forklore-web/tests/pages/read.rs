//! What the reader shows besides texts: code, changes of files, and where the history divides.

use axum::http::{StatusCode, header};
use forklore_engine::NewEvent;
use serde_json::json;

use crate::parsed::{elements, nodes};
use crate::world::{World, family};

/// Returns the text of the marks with a class.
fn marks(page: &str, class: &str) -> Vec<String> {
    let all = elements(page);
    all.into_iter().filter(|it| it.get("class") == Some(class)).map(|it| it.text).collect()
}

#[test]
fn code_is_marked_and_stays_text() {
    let world = World::new();
    world.create("main", None);
    let code = "```rust\nlet a = \"<b>\"; // <script>alert(1)</script>\n```\n";
    world.says("main", &json!([{"type": "text", "text": code}]));
    let page = world.page("/s/main");
    assert_eq!(marks(&page, "c-word"), ["let"]);
    assert_eq!(marks(&page, "c-text"), ["\"<b>\""]);
    assert_eq!(marks(&page, "c-note"), ["// <script>alert(1)</script>"]);
}

#[test]
fn pages_with_much_code_are_small() {
    let world = World::new();
    world.create("main", None);
    let code = format!("Look:\n\n```js\n{}```\n\n", "if (a) return 1; // b\n".repeat(30)).repeat(3);
    for _ in 0..60 {
        world.says("main", &json!([{"type": "text", "text": code}]));
    }
    let page = world.page("/s/main");
    assert!(nodes(&page) < 3_000, "{}", nodes(&page));
    assert!(page.contains("class=\"c-word\""));
}

#[test]
fn edits_of_every_agent_are_shown_as_changes() {
    let hostile = "<i onclick=x>";
    let old_new = [
        ("Edit", json!({"file_path": "/work/demo/a", "old_string": "old", "new_string": hostile})),
        (
            "MultiEdit",
            json!({"file_path": "/work/demo/a",
                "edits": [{"old_string": "old", "new_string": hostile}]}),
        ),
        ("edit", json!({"filePath": "/work/demo/a", "oldString": "old", "newString": hostile})),
        (
            "edit",
            json!({"path": "/work/demo/a", "edits": [{"oldText": "old", "newText": hostile}]}),
        ),
        (
            "apply_patch",
            json!({"input": format!(
                "*** Begin Patch\n*** Update File: a\n@@\n-old\n+{hostile}\n*** End Patch"
            )}),
        ),
    ];
    for (tool, arguments) in old_new {
        let world = World::new();
        world.create("main", None);
        let call = json!([{"type": "tool_call", "id": "1", "name": tool, "arguments": arguments}]);
        world.says("main", &call);
        let all = elements(&world.page("/s/main"));
        let text = |name: &str| all.iter().find(|it| it.name == name).map(|it| it.text.clone());
        let changed = (text("del").unwrap(), text("ins").unwrap());
        assert_eq!(changed, ("-old".to_owned(), format!("+{hostile}")), "{tool}");
    }
}

#[test]
fn where_the_history_divides_one_can_switch() {
    let world = World::new();
    world.create("main", Some("Switch"));
    world.user("main", "which way?");
    for branch in ["left", "middle", "right"] {
        world.fork("main", branch, "turn:1");
        world.user(branch, branch);
    }
    world.user("main", "straight on");
    // In each branch, the order of all is the same.
    for (at, own) in ["main", "left", "middle", "right"].into_iter().enumerate() {
        let page = world.page(&format!("/s/{own}"));
        let all = elements(&page);
        let begin = all.iter().position(|it| it.get("class") == Some("turning")).unwrap();
        let depth = all[begin].depth;
        let inside: Vec<_> = all[begin + 1..].iter().take_while(|it| it.depth > depth).collect();
        let count = format!("The history divides here: branch {} of 4", at + 1);
        assert_eq!(inside[0].text, count);
        let is_key = |key: &str| inside.iter().any(|it| it.get("data-key") == Some(key));
        assert_eq!((is_key("["), is_key("]")), (at > 0, at < 3), "{own}");
        let mut labels: Vec<_> = inside
            .iter()
            .filter(|it| it.get("data-key").is_none() && ["a", "strong"].contains(&&*it.name))
            .map(|it| it.text.as_str())
            .collect();
        assert_eq!(labels.pop(), Some("compare these"));
        labels.iter_mut().filter(|it| **it == "@main").for_each(|it| *it = "main");
        assert_eq!(labels.len(), 4, "{own}: {labels:?}");
        assert_eq!(&labels[1..], ["left", "middle", "right"], "{own}");
    }
}

#[test]
fn one_goes_to_a_turn_an_event_or_a_part_of_an_id() {
    let world = family();
    let to = |text: &str| {
        let answer = world.get(&format!("/s/main/go?to={text}"));
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{text}: {}", answer.text());
        answer.header(header::LOCATION).to_owned()
    };
    assert_eq!(to("2"), "/s/main?turn=2");
    assert_eq!(to("%231"), "/s/main?at=1#e-1");
    let replayed = world.engine.events(&"main".parse().unwrap(), forklore_store::port::At::Seq(0));
    for stored in replayed {
        let stored = stored.unwrap();
        let id = stored.event.id.as_str();
        assert_eq!(to(id), format!("/s/main?at={0}#e-{0}", stored.seq), "{id}");
    }
    // The last characters of a random id may all be digits.
    let mut event = NewEvent::user("here").unwrap();
    event.id = Some("853848364".parse().unwrap());
    let seq = world.engine.append(&"main".parse().unwrap(), &event.into()).unwrap().head_seq;
    assert_eq!(to("48364"), format!("/s/main?at={seq}#e-{seq}"));
    let hostile = world.get("/s/main/go?to=%3Cscript%3E");
    assert_eq!(hostile.status, StatusCode::NOT_FOUND);
    assert!(!hostile.text().contains("<script>"));
    // Every entry has a link to copy.
    let page = world.page("/s/main");
    let links = page.matches("data-copy-link").count();
    assert_eq!(links, page.matches("<article").count());
}

//! Tests that hostile text in every cell stays text.

use forklore_core::workspace::Workspace;
use forklore_engine::Create;
use ratatui::crossterm::event::KeyCode;

use crate::stage::{Stage, append, engine, fork, id};

const HOSTILE: &str = "a\u{1b}[2J\u{9b}31m\u{7}\u{202e}b\u{200b}\r\u{0}c";

#[test]
fn hostile_text_stays_text() {
    let engine = engine();
    let json = serde_json::to_string(HOSTILE).unwrap();
    let create = Create {
        id: Some(id("bad")),
        title: Some(HOSTILE.replace('\u{0}', "")),
        ..Create::in_workspace(Workspace::new(&format!("/demo/{}", HOSTILE.replace('\u{0}', ""))))
    };
    engine.create(&create).unwrap();
    let call = format!(
        r#"{{"content":[{{"type":"reasoning","text":{json}}},{{"type":"text","text":{json}}},{{"type":"tool_call","id":"c1","name":{json},"arguments":{{"command":{json}}}}}]}}"#
    );
    let result = format!(r#"{{"call_id":"c1","content":{json},"is_error":true}}"#);
    let events = [
        ("user_message", format!(r#"{{"content":{json}}}"#)),
        ("assistant_message", call),
        ("tool_result", result),
        ("x.other", json.clone()),
    ];
    let events: Vec<_> = events.iter().map(|(kind, data)| (*kind, data.as_str())).collect();
    append(&engine, "bad", &events);
    fork(&engine, "bad", "end", "child", "child");
    append(&engine, "child", &events[..1]);
    let mut stage = Stage::of(engine, (120, 30));
    stage.press("a");
    let mut seen = String::new();
    for way in ["", "t", "\n", "OE", "\u{1b}\u{1b}", "sc\n", "\u{1b}", "/\u{7}a\n", "tgcjc"] {
        for c in way.chars() {
            stage.key(match c {
                '\n' => KeyCode::Enter,
                '\u{1b}' => KeyCode::Esc,
                c => KeyCode::Char(c),
            });
        }
        let screen = stage.screen();
        let bad =
            screen.chars().find(|c| *c != '\n' && forklore_sanitize::terminal::is_hostile(*c));
        assert_eq!(bad, None, "{way:?}: {screen}");
        seen.push_str(&screen);
    }
    insta::assert_snapshot!("hostile", seen);
}

//! Tests of what others wrote into a session, and of sessions in which one arrives.

use forklore_core::{Data, EventType};
use forklore_engine::{ListRequest, NewEvent};
use forklore_host::Start;

use crate::world::World;

#[test]
fn turns_of_another_program_are_announced_before_the_next_turn() {
    let mut world = World::new();
    let lines = [
        "hello",
        "!What does the other one ask?",
        "and now?",
        "and again?",
        "!One more\u{1b}[2J.",
        "!And another.",
        "!And a last one.",
        "/fork --label b",
        "who wrote?",
        "/back",
        "and here?",
    ];
    insta::assert_snapshot!(world.talk(World::start(), &lines));
}

#[test]
fn one_who_arrives_sees_the_last_question_and_the_end_of_its_answer() {
    let mut world = World::new();
    world.talk(World::start(), &["hello", "/fork --stay --label b"]);
    let engine = world.engine();
    let sessions = engine.list(&ListRequest::default()).unwrap().sessions;
    let root = sessions.iter().find(|header| header.parent_id.is_none()).unwrap().id.clone();
    let lines: Vec<String> = (1..=20).map(|n| format!("- item *{n}*\u{1b}[2J")).collect();
    let call = r#"{"id":"c1","name":"look","arguments":{}}"#;
    let result = r#"{"call_id":"c1","content":"there"}"#;
    let events = vec![
        NewEvent::user("Name twenty things.\nOne a line.\nNo more.\nReally.\nNone.").unwrap(),
        NewEvent::new(EventType::TOOL_CALL, Data::parse(call).unwrap()),
        NewEvent::new(EventType::TOOL_RESULT, Data::parse(result).unwrap()),
        NewEvent::assistant(&lines.join("\n")).unwrap(),
    ];
    engine.append(&root, &events.into()).unwrap();
    let start = Start { session: Some(root), ..World::start() };
    insta::assert_snapshot!(world.talk(start, &["/switch b"]));
}

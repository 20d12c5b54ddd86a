//! Answers that do not end, and turns whose time does.

use std::time::Duration;

use forklore_agent::bounds::{BLOCKS, CALLS, NAME_BYTES, TEXT_BYTES, THINKING_BYTES};
use forklore_agent::model::{EndReason, Piece};
use forklore_agent::notify::Name;
use forklore_agent::tool::ToolCall;
use forklore_agent::{Budget, Status};
use forklore_model::{Data, ErrorKind};
use serde_json::json;

use crate::scripted::{Act, Scripted, calls, end, says};
use crate::world::World;

fn text(text: &str) -> Act {
    Act::Say(Piece::Text(text.into()))
}

fn called(number: usize, name: &str) -> Act {
    let (id, arguments) = (number.to_string(), Data::parse("{}").unwrap());
    Act::Say(Piece::Call(ToolCall { id, name: name.into(), arguments }))
}

/// The message of the error, and the log behind the prompt.
async fn beyond(mut acts: Vec<Act>) -> (String, Vec<(String, serde_json::Value)>) {
    let world = World::new();
    // Who reads on behind what is too much stands still.
    acts.push(Act::Hang);
    let session = world.root(&Scripted::new(vec![acts]));
    let error = session.execute("go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal, "{error}");
    let events = world.events(&session.id());
    assert_eq!(events.last().unwrap().0, "turn_failed");
    (error.to_string(), events[1..events.len() - 1].to_vec())
}

#[tokio::test]
async fn a_text_without_end_is_kept_as_far_as_it_can_be_stored() {
    // Every character of it becomes six bytes in the log.
    let piece = "\u{1}".repeat(TEXT_BYTES / 2 - 1);
    let (error, stored) = beyond(vec![text(&piece), text(&piece), text("\u{20ac}ab")]).await;
    let expected = "the model did not answer after 1 attempts: test: \
                    the answer is longer than any should be: it has more than 2 MiB of text";
    assert_eq!(error, expected);
    let partial = json!({"content": piece.repeat(2), "partial": true});
    assert_eq!(stored, [("assistant_message".to_owned(), partial)]);
}

#[tokio::test]
async fn what_else_has_no_end_is_not_listened_to() {
    let long = "x".repeat(THINKING_BYTES / 2 + 1);
    let thinking = || Act::Say(Piece::Thinking(long.clone()));
    let (error, stored) = beyond(vec![text("hm"), thinking(), thinking()]).await;
    assert!(error.ends_with("it has more than 1 MiB of thinking"), "{error}");
    assert_eq!(stored.len(), 1);
    let calls = (0..=CALLS).map(|number| called(number, "echo")).collect();
    let (error, stored) = beyond(calls).await;
    assert!(error.ends_with("it has more than 128 calls"), "{error}");
    assert_eq!(stored, []);
    let (error, _) = beyond(vec![called(1, &"n".repeat(NAME_BYTES + 1))]).await;
    assert!(error.ends_with("it has more than 1024 bytes in a call's name"), "{error}");
    let thought = || Act::Say(Piece::Thought { text: "hm".into(), opaque: None });
    let blocks = (0..=BLOCKS / 2).flat_map(|_| [text("a"), thought()]).collect();
    let (error, stored) = beyond(blocks).await;
    assert!(error.ends_with("it has more than 1000 blocks"), "{error}");
    assert_eq!(stored.len(), 1);
}

#[tokio::test]
async fn as_much_as_may_be_is_stored() {
    let world = World::new();
    let mut acts = vec![
        Act::Say(Piece::Thinking("\u{1}".repeat(THINKING_BYTES))),
        text(&"\u{1}".repeat(TEXT_BYTES)),
    ];
    acts.extend((0..CALLS).map(|number| called(number, "echo")));
    acts.push(end(EndReason::Calls));
    let session = world.root(&Scripted::new(vec![acts, says("done")]));
    let turn = session.execute("go").await.unwrap();
    assert_eq!((turn.text.as_str(), turn.tool_calls), ("done", 128));
}

#[tokio::test]
async fn a_model_that_outlives_the_turns_time_is_interrupted() {
    let world = World::new();
    let session = world.root(&Scripted::new(vec![vec![text("so far"), Act::Hang], says("on")]));
    session.equip(|equipment| equipment.settings.budget = moment());
    let turn = session.execute("go").await.unwrap();
    assert_eq!(turn.status, Status::Incomplete("0 s".into()));
    assert_eq!((turn.text.as_str(), turn.model_calls), ("so far", 0));
    let partial = json!({"content": "so far", "partial": true});
    let failed = json!({"error": {"kind": "incomplete", "message": "0 s"}});
    let events = world.events(&session.id());
    let expected = [("assistant_message".to_owned(), partial), ("turn_failed".to_owned(), failed)];
    assert_eq!(events[1..], expected);
    assert!(world.ears.of(Name::CancelCompleted).is_empty());
    session.equip(|equipment| equipment.settings.budget = Budget::default());
    assert_eq!(session.execute("go on").await.unwrap().text, "on");
}

#[tokio::test]
async fn so_are_its_tools() {
    let world = World::new();
    let both = calls(&[("1", "hang", "1"), ("2", "deaf", "2")]);
    let session = world.root(&Scripted::new(vec![both]));
    session.equip(|equipment| equipment.settings.budget = moment());
    let turn = session.execute("go").await.unwrap();
    assert_eq!(turn.status, Status::Incomplete("0 s".into()));
    assert!(world.kernel.engine().inspect(&session.id()).unwrap().balanced);
    let expected = [
        "user_message",
        "assistant_message",
        "tool_call",
        "tool_call",
        "provider_usage",
        "permission_decision",
        "permission_decision",
        "tool_result",
        "tool_result",
        "turn_failed",
    ];
    assert_eq!(world.types(&session.id()), expected);
}

#[tokio::test]
async fn a_time_that_never_ends_is_none() {
    let world = World::new();
    let session = world.root(&Scripted::new(vec![says("done")]));
    let time = Some(Duration::MAX);
    session.equip(|equipment| equipment.settings.budget = Budget { time, ..Budget::default() });
    assert_eq!(session.execute("go").await.unwrap().text, "done");
}

fn moment() -> Budget {
    Budget { time: Some(Duration::from_millis(20)), ..Budget::default() }
}

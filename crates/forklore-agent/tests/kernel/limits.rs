//! Tests of answers that do not end, and of turns that use up their time budget.

use std::time::Duration;

use forklore_agent::answer_limits::{BLOCKS, CALLS, NAME_BYTES, TEXT_BYTES, THINKING_BYTES};
use forklore_agent::model::{EndReason, StreamEvent};
use forklore_agent::notify::Name;
use forklore_agent::tool::ToolCall;
use forklore_agent::{Budget, Status};
use forklore_core::{Data, ErrorKind};
use serde_json::json;

use crate::scripted::{Act, Scripted, calls, end, says};
use crate::world::World;

fn text(text: &str) -> Act {
    Act::Say(StreamEvent::Text(text.into()))
}

fn called(number: usize, name: &str) -> Act {
    let (id, arguments) = (number.to_string(), Data::parse("{}").unwrap());
    Act::Say(StreamEvent::Call(ToolCall { id, name: name.into(), arguments }))
}

/// Returns the error message of a turn, and its events between the prompt and `turn_failed`.
async fn beyond(mut acts: Vec<Act>) -> (String, Vec<(String, serde_json::Value)>) {
    let world = World::new();
    // If the kernel read beyond the limit, the test would hang here.
    acts.push(Act::Hang);
    let session = world.root(&Scripted::new(vec![acts]));
    let error = session.execute("go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal, "{error}");
    let events = world.events(&session.id());
    assert_eq!(events.last().unwrap().0, "turn_failed");
    (error.to_string(), events[1..events.len() - 1].to_vec())
}

#[tokio::test]
async fn an_endless_text_is_stored_up_to_the_limit() {
    // JSON escapes every character of this text to six bytes.
    let piece = "\u{1}".repeat(TEXT_BYTES / 2 - 1);
    let (error, stored) = beyond(vec![text(&piece), text(&piece), text("\u{20ac}ab")]).await;
    let expected = "the model did not answer after 1 attempt: test: \
                    the answer is longer than any should be: it has more than 2 MiB of text";
    assert_eq!(error, expected);
    let partial = json!({"content": piece.repeat(2), "partial": true});
    assert_eq!(stored, [("assistant_message".to_owned(), partial)]);
}

#[tokio::test]
async fn what_else_has_no_end_is_not_listened_to() {
    let long = "x".repeat(THINKING_BYTES / 2 + 1);
    let thinking = || Act::Say(StreamEvent::Thinking(long.clone()));
    let (error, stored) = beyond(vec![text("hm"), thinking(), thinking()]).await;
    assert!(error.ends_with("it has more than 1 MiB of thinking"), "{error}");
    assert_eq!(stored.len(), 1);
    let calls = (0..=CALLS).map(|number| called(number, "echo")).collect();
    let (error, stored) = beyond(calls).await;
    assert!(error.ends_with("it has more than 128 calls"), "{error}");
    assert_eq!(stored, []);
    let (error, _) = beyond(vec![called(1, &"n".repeat(NAME_BYTES + 1))]).await;
    assert!(error.ends_with("it has more than 1024 bytes in a call's name"), "{error}");
    let thought = || Act::Say(StreamEvent::Thought { text: "hm".into(), opaque: None });
    let blocks = (0..=BLOCKS / 2).flat_map(|_| [text("a"), thought()]).collect();
    let (error, stored) = beyond(blocks).await;
    assert!(error.ends_with("it has more than 1000 blocks"), "{error}");
    assert_eq!(stored.len(), 1);
}

#[tokio::test]
async fn as_much_as_may_be_is_stored() {
    let world = World::new();
    let mut acts = vec![
        Act::Say(StreamEvent::Thinking("\u{1}".repeat(THINKING_BYTES))),
        text(&"\u{1}".repeat(TEXT_BYTES)),
    ];
    acts.extend((0..CALLS).map(|number| called(number, "echo")));
    acts.push(end(EndReason::Calls));
    let session = world.root(&Scripted::new(vec![acts, says("done")]));
    let turn = session.execute("go").await.unwrap();
    assert_eq!((turn.text.as_str(), turn.tool_calls), ("done", 128));
}

#[tokio::test(start_paused = true)]
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

#[tokio::test(start_paused = true)]
async fn so_are_its_tools() {
    let world = World::new();
    let both = calls(&[("1", "hang", "1"), ("2", "deaf", "2")]);
    let session = world.root(&Scripted::new(vec![both]));
    session.equip(|equipment| {
        equipment.settings.budget = moment();
        equipment.settings.grace = Duration::from_millis(50);
    });
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

#[tokio::test]
async fn json_that_no_tree_of_values_holds_breaks_nothing() {
    let world = World::new();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let (large, half) = ("{\"n\":1e999}", "{\"a\":\"\\ud83d\"}");
    let all = [("1", "echo", &*deep), ("2", "echo", large), ("3", "echo", half)];
    let opaque = Some(Data::parse(&deep).unwrap());
    let mut acts = vec![Act::Say(StreamEvent::Thought { text: "hm".into(), opaque })];
    acts.extend(calls(&all));
    let model = Scripted::new(vec![acts, says("done")]);
    let session = world.root(&model);
    assert_eq!(session.execute("go").await.unwrap().text, "done");
    let events = world.events(&session.id());
    assert_eq!(events[1].1.get("opaque"), None);
    let arguments: Vec<_> = events
        .iter()
        .filter(|(kind, _)| kind == "tool_call")
        .map(|(_, data)| data["arguments"].clone())
        .collect();
    assert_eq!(arguments, [json!(deep), json!(large), json!({"a": "\u{fffd}"})]);
    assert_eq!(world.kernel.engine().verify(None).unwrap().problems, []);
}

#[tokio::test]
async fn nor_does_what_a_tool_says() {
    use forklore_agent::tool::{CallContext, ToolOutcome, ToolSpec, Tools};
    use futures_util::FutureExt;
    use futures_util::future::BoxFuture;

    struct Deep;
    impl Tools for Deep {
        fn specs(&self) -> Vec<ToolSpec> {
            let parameters = Data::parse("{}").unwrap();
            vec![ToolSpec { name: "deep".into(), description: String::new(), parameters }]
        }

        fn call<'a>(&'a self, _: &'a ToolCall, _: &'a CallContext) -> BoxFuture<'a, ToolOutcome> {
            let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
            let content = Data::parse(&deep).unwrap();
            async { ToolOutcome { content, is_error: false } }.boxed()
        }
    }
    let world = World::new();
    let model = Scripted::new(vec![calls(&[("1", "deep", "1")]), says("done")]);
    let session = world.root(&model);
    session.equip(|equipment| equipment.tools = std::sync::Arc::new(Deep));
    assert_eq!(session.execute("go").await.unwrap().text, "done");
    let result = &world.events(&session.id())[5].1["content"];
    assert!(result.as_str().unwrap().starts_with("[[[["), "{result}");
}

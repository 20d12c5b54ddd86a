//! Tests of failing models: a failure is retried if that may help, and recorded otherwise.

use std::time::Duration;

use forklore_agent::model::{EndReason, ModelErrorKind, StreamEvent};
use forklore_agent::notify::Name;
use forklore_agent::{Error, Status};
use forklore_core::{ErrorKind, Message};
use serde_json::json;

use crate::scripted::{Act, Scripted, end, says};
use crate::world::World;

fn text(text: &str) -> Act {
    Act::Say(StreamEvent::Text(text.into()))
}

#[tokio::test]
async fn passing_failures_are_tried_again() {
    let world = World::new();
    let model = Scripted::new(vec![
        vec![Act::Fail(ModelErrorKind::Later(Some(Duration::from_millis(2))))],
        vec![text("half an ans"), Act::Fail(ModelErrorKind::Unreachable)],
        says("whole"),
    ]);
    let session = world.root(&model);
    let turn = session.execute("go").await.unwrap();
    assert_eq!((turn.text.as_str(), turn.model_calls), ("whole", 1));
    assert_eq!(world.ears.of(Name::ProviderRetry).len(), 2);
    let expected = ["user_message", "assistant_message", "provider_usage"];
    assert_eq!(world.types(&session.id()), expected);
}

#[tokio::test]
async fn a_model_that_never_answers_is_given_up_and_recorded() {
    let world = World::new();
    let down = || vec![Act::Fail(ModelErrorKind::Unreachable)];
    let model = Scripted::new(vec![down(), down(), down(), says("back")]);
    let session = world.root(&model);
    session.equip(|equipment| equipment.settings.attempts = 3);
    let error = session.execute("go").await.unwrap_err();
    assert!(matches!(error, Error::Model { attempts: 3, .. }), "{error}");
    let events = world.events(&session.id());
    assert_eq!(events[1].0, "turn_failed");
    let message = "the model did not answer after 3 attempts: test: scripted";
    let recorded = json!({"error": {"kind": "internal", "message": message}, "attempts": 3});
    assert_eq!(events[1].1, recorded);
    // The prompt is in the log, so the turn can be resumed.
    assert_eq!(session.resume().await.unwrap().text, "back");
    assert!(matches!(session.resume().await.unwrap_err(), Error::NothingToResume(_)));
}

#[tokio::test]
async fn lasting_failures_are_not_tried_again() {
    let hour = Duration::from_secs(3_600);
    let (failed, cut_short) = (&["turn_failed"][..], &["assistant_message", "turn_failed"][..]);
    for (acts, kind, stored) in [
        (vec![Act::Fail(ModelErrorKind::Key)], ErrorKind::PermissionDenied, failed),
        (vec![Act::Fail(ModelErrorKind::Later(Some(hour)))], ErrorKind::Busy, failed),
        (vec![Act::Panic], ErrorKind::Internal, failed),
        (vec![text("broken off")], ErrorKind::Internal, cut_short),
        (vec![text("a"), Act::Panic], ErrorKind::Internal, cut_short),
        (vec![text("a"), Act::Fail(ModelErrorKind::Malformed)], ErrorKind::Internal, cut_short),
    ] {
        let world = World::new();
        let model = Scripted::new(vec![acts]);
        let session = world.root(&model);
        let error = session.execute("go").await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert_eq!(model.requests().len(), 1);
        assert_eq!(world.types(&session.id())[1..], *stored);
        assert!(world.kernel.engine().inspect(&session.id()).unwrap().balanced);
        // The lease was released.
        assert!(world.kernel.engine().show(&session.id()).unwrap().lease.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_hangs_is_given_up() {
    let world = World::new();
    let model = Scripted::new(vec![vec![text("a"), Act::Hang], vec![Act::Hang]]);
    let session = world.root(&model);
    session.equip(|equipment| {
        equipment.settings.attempts = 2;
        equipment.settings.options.patience = Some(Duration::from_millis(20));
    });
    let error = session.execute("go").await.unwrap_err();
    assert!(error.to_string().contains("came in time"), "{error}");
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn an_interrupted_answer_is_stored_as_far_as_it_came() {
    let world = World::new();
    let model = Scripted::new(vec![vec![text("half an answer"), Act::Hang], says("whole")]);
    let session = world.root(&model);
    let turn = {
        let running = session.clone();
        let turn = tokio::spawn(async move { running.execute("go").await });
        while world.ears.of(Name::ContentBlockDelta).is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(session.is_running() && session.interrupt() && !session.interrupt());
        turn.await.unwrap().unwrap()
    };
    assert_eq!(turn.status, Status::Cancelled);
    let events = world.events(&session.id());
    let partial = json!({"content": "half an answer", "partial": true});
    assert_eq!(events[1..], [("assistant_message".to_owned(), partial)]);
    assert_eq!(world.ears.of(Name::CancelCompleted).len(), 1);
    assert!(!session.is_running() && !session.interrupt());
    assert_eq!(session.execute("go on").await.unwrap().text, "whole");
}

#[tokio::test]
async fn an_interrupted_answer_is_gone_on_with_in_the_same_turn() {
    let world = World::new();
    let model = Scripted::new(vec![
        vec![text("half an answer"), Act::Hang],
        vec![text(", and"), Act::Hang],
        says("the rest"),
    ]);
    let session = world.root(&model);
    let engine = world.kernel.engine();
    let mut text = 0;
    for resumed in [false, true] {
        let running = session.clone();
        let turn = tokio::spawn(async move {
            if resumed { running.resume().await } else { running.execute("go").await }
        });
        text += 1;
        while world.ears.of(Name::ContentBlockDelta).len() < text {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(session.interrupt());
        let turn = turn.await.unwrap().unwrap();
        assert_eq!(turn.status, Status::Cancelled);
        assert_eq!(turn.text, ["half an answer", ", and"][usize::from(resumed)]);
        assert!(engine.is_cut_short(&session.id()).unwrap());
    }
    assert_eq!(session.resume().await.unwrap().text, "the rest");
    let on = "[Your last answer was cut off. Go on from where it stopped.]";
    let reported = ["go", "half an answer", on, ", and", on, "the rest"];
    let seen = engine.inspect(&session.id()).unwrap().messages;
    assert_eq!(seen.iter().map(Message::plain_text).collect::<Vec<_>>(), reported);
    // Each request contains all messages before it.
    let requests = model.requests();
    assert_eq!(
        requests.iter().map(|requested| requested.messages.len()).collect::<Vec<_>>(),
        [1, 3, 5]
    );
    assert!(
        requests.iter().all(|requested| requested.messages == seen[..requested.messages.len()])
    );
    // All requests belong to one turn, and this turn is complete now.
    assert_eq!(engine.show(&session.id()).unwrap().counts.turns, 1);
    let error = session.resume().await.unwrap_err();
    assert!(matches!(error, Error::NothingToResume(_)), "{error}");
}

#[tokio::test]
async fn an_answer_cut_at_its_length_is_reported() {
    let world = World::new();
    let model = Scripted::new(vec![vec![
        text("a long"),
        Act::Wait(Duration::from_millis(1)),
        text(" ans"),
        end(EndReason::Length),
    ]]);
    let session = world.root(&model);
    let turn = session.execute("go").await.unwrap();
    assert_eq!(turn.status, Status::Incomplete("the answer reached the most tokens".into()));
    assert_eq!(turn.text, "a long ans");
}

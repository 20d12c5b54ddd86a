//! Tests of incomplete answers: the text that people have seen is stored, and the turn can be
//! continued.

use std::time::Duration;

use forklore_agent::Error;
use forklore_agent::model::{ModelErrorKind, StreamEvent};
use forklore_agent::notify::Name;
use serde_json::{Value, json};

use crate::scripted::{Act, Scripted, calls, says};
use crate::world::{World, data};

fn text(text: &str) -> Act {
    Act::Say(StreamEvent::Text(text.into()))
}

fn lost() -> Act {
    Act::Fail(ModelErrorKind::Unreachable)
}

fn part(text: &str) -> (String, Value) {
    ("assistant_message".into(), json!({"content": text, "partial": true}))
}

#[tokio::test]
async fn of_several_attempts_the_last_with_content_stays() {
    let world = World::new();
    let thought = Act::Say(StreamEvent::Thinking("hm".into()));
    let model = Scripted::new(vec![
        vec![text("first"), lost()],
        vec![text("second"), lost()],
        vec![thought, lost()],
        vec![lost()],
    ]);
    let session = world.root(&model);
    session.equip(|equipment| equipment.settings.attempts = 4);
    let error = session.execute("go").await.unwrap_err();
    assert!(matches!(error, Error::Model { attempts: 4, .. }), "{error}");
    let events = world.events(&session.id());
    assert_eq!(events[1], part("second"));
    assert_eq!(events[2].0, "turn_failed");
    let ends = world.ears.of(Name::ContentBlockEnd);
    let ends: Vec<_> = ends.iter().map(|end| data(end)).collect();
    let ends: Vec<_> = ends.iter().map(|end| (&end["block"], &end["partial"])).collect();
    assert_eq!(ends, [(&json!({"text": "second"}), &json!(true))]);
    assert!(world.kernel.engine().inspect(&session.id()).unwrap().balanced);
}

#[tokio::test]
async fn an_interruption_while_it_waits_to_ask_again_keeps_it_too() {
    let world = World::new();
    let session = world.root(&Scripted::new(vec![vec![text("first"), lost()]]));
    session.equip(|equipment| equipment.settings.backoff = Duration::from_secs(3_600));
    let running = session.clone();
    let turn = tokio::spawn(async move { running.execute("go").await });
    while world.ears.of(Name::ProviderRetry).is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(session.interrupt());
    assert_eq!(turn.await.unwrap().unwrap().text, "first");
    assert_eq!(world.events(&session.id())[1..], [part("first")]);
}

#[tokio::test]
async fn a_part_is_gone_on_with() {
    let world = World::new();
    let broken = vec![text("one, two, "), Act::Fail(ModelErrorKind::Malformed)];
    let model = Scripted::new(vec![broken, says("three")]);
    let session = world.root(&model);
    assert!(session.execute("count").await.is_err());
    let engine = world.kernel.engine();
    // The turn does not count as interrupted, because its last message is an assistant message.
    assert_eq!(engine.interrupted_turn(&session.id()).unwrap(), None);
    assert!(engine.is_cut_short(&session.id()).unwrap());
    assert_eq!(session.resume().await.unwrap().text, "three");
    assert!(!engine.is_cut_short(&session.id()).unwrap());
    let texts: Vec<_> = world
        .events(&session.id())
        .into_iter()
        .filter(|(kind, _)| kind.ends_with("_message"))
        .map(|(_, data)| data)
        .collect();
    let go_on = "[Your last answer was cut off. Go on from where it stopped.]";
    let expected = [
        json!({"content": "count"}),
        json!({"content": "one, two, ", "partial": true}),
        json!({"content": go_on, "injected": true}),
        json!({"content": "three"}),
    ];
    assert_eq!(texts, expected);
    // The resumed answer belongs to the same turn.
    assert_eq!(engine.show(&session.id()).unwrap().counts.turns, 1);
    assert!(matches!(session.resume().await.unwrap_err(), Error::NothingToResume(_)));
}

#[tokio::test]
async fn calls_of_an_answer_that_broke_off_are_not_made() {
    let world = World::new();
    let mut broken = calls(&[("1", "echo", "1")]);
    broken.pop();
    broken.push(Act::Fail(ModelErrorKind::Malformed));
    let session = world.root(&Scripted::new(vec![broken]));
    assert!(session.execute("go").await.is_err());
    assert_eq!(world.events(&session.id())[1], part("let me see"));
    assert!(world.ears.of(Name::ToolPre).is_empty());
}

#[tokio::test]
async fn a_missing_model_key_is_reported_before_anything_is_stored() {
    let world = World::new();
    let session = world.root(&Scripted::without("MY_KEY"));
    for error in [session.execute("go").await, session.resume().await] {
        let error = error.unwrap_err();
        assert_eq!(error.kind(), forklore_core::ErrorKind::PermissionDenied);
        assert_eq!(error.to_string(), "the model cannot be asked: test: no key: MY_KEY is not set");
    }
    assert!(world.kernel.engine().show(&session.id()).is_err(), "no session was made");
    assert!(world.ears.all().is_empty());
    session.set_model(Scripted::new(vec![says("hello")]));
    assert_eq!(session.execute("go").await.unwrap().text, "hello");
    let without = Scripted::without("MY_KEY");
    let equipment = Some(crate::world::equipment(&without));
    let task = forklore_agent::Delegate {
        session_config: equipment,
        ..forklore_agent::Delegate::new("help")
    };
    let before = world.types(&session.id());
    assert!(matches!(session.delegate(task).await, Err(Error::NotReady(_))));
    assert_eq!(world.types(&session.id()), before);
}

//! Tests of the usage of turns, also for a provider that reports only a part of the usage.

use std::time::Duration;

use forklore_agent::Prices;
use forklore_agent::model::{End, EndReason, ModelErrorKind, StreamEvent, TokenUsage};
use forklore_agent::notify::Name;
use forklore_agent::{Turn, TurnUsage};
use serde_json::{Value, json};

use crate::scripted::{Act, Scripted, says};
use crate::world::World;

fn text(text: &str) -> Act {
    Act::Say(StreamEvent::Text(text.into()))
}

fn usage(input: u64, output: Option<u64>) -> Act {
    let usage = TokenUsage { input: Some(input), output, ..TokenUsage::default() };
    Act::Say(StreamEvent::Usage { usage, request_id: Some("r1".into()) })
}

/// Returns the usage records of a session's model calls, without their durations.
fn usages(world: &World, id: &forklore_core::SessionId) -> Vec<Value> {
    let events = world.events(id).into_iter().filter(|(kind, _)| kind == "provider_usage");
    let mut data: Vec<Value> = events.map(|(_, data)| data).collect();
    for usage in &mut data {
        assert!(usage.as_object_mut().unwrap().remove("ms").is_some());
    }
    data
}

async fn turn_at(prices: Option<Prices>) -> Turn {
    let world = World::new();
    let session = world.root(&Scripted::new(vec![says("hello")]));
    session.equip(|equipment| equipment.settings.prices = prices);
    session.execute("go").await.unwrap()
}

#[tokio::test]
async fn a_cost_is_reported_if_the_price_is_configured() {
    let usage = |cost| TurnUsage { input: 100, output: 10, cached: 40, cost };
    assert_eq!(turn_at(None).await.usage, usage(None));
    assert_eq!(turn_at(Some(Prices::default())).await.usage, usage(Some(0.0)));
    let prices = Prices { input: 10_000.0, output: 100_000.0, ..Prices::default() };
    assert_eq!(turn_at(Some(prices)).await.usage, usage(Some(2.0)));
    // The computed 2.1000000000000002e-05 is told as people write it.
    let prices = Prices { input: 0.15, output: 0.6, ..Prices::default() };
    assert_eq!(turn_at(Some(prices)).await.usage, usage(Some(0.000_021)));
    let mut sum = usage(Some(0.000_02));
    (0..2).for_each(|_| sum += usage(Some(0.000_02)));
    assert_eq!(sum.cost, Some(0.000_06));
    let json = serde_json::to_value(usage(None)).unwrap();
    assert_eq!(json, json!({"input": 100, "output": 10, "cached": 40, "cost": null}));
}

#[tokio::test]
async fn the_usage_of_an_interrupted_answer_is_recorded() {
    let world = World::new();
    let acts = vec![usage(1_000, None), text("half an answer"), usage(1_000, Some(3)), Act::Hang];
    let session = world.root(&Scripted::new(vec![acts]));
    let prices = Prices { input: 1_000.0, output: 10_000.0, ..Prices::default() };
    session.equip(|equipment| equipment.settings.prices = Some(prices));
    let running = session.clone();
    let turn = tokio::spawn(async move { running.execute("go").await });
    while world.ears.of(Name::ContentBlockDelta).is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    session.interrupt();
    let turn = turn.await.unwrap().unwrap();
    assert_eq!(turn.usage, TurnUsage { input: 1_000, output: 3, cached: 0, cost: Some(1.03) });
    let expected = json!({"provider": "test", "model": "small", "input": 1_000, "output": 3,
        "cost": 1.03, "request_id": "r1", "partial": true});
    assert_eq!(usages(&world, &session.id()), [expected]);
    let types = world.types(&session.id());
    assert_eq!(types, ["user_message", "provider_usage", "assistant_message"]);
    // The gauge counts the tokens that the provider reported, plus an estimate for the partial
    // answer.
    let gauge = session.gauge().await.unwrap();
    assert!(gauge.estimated > 0, "{gauge:?}");
    assert_eq!(gauge.tokens, 1_003 + gauge.estimated);
}

#[tokio::test]
async fn so_is_what_failed_attempts_took() {
    let world = World::new();
    let model = Scripted::new(vec![
        vec![usage(1_000, None), text("half"), Act::Fail(ModelErrorKind::Unreachable)],
        vec![Act::Fail(ModelErrorKind::Unreachable)],
        says("whole"),
    ]);
    let session = world.root(&model);
    let turn = session.execute("go").await.unwrap();
    assert_eq!(turn.usage, TurnUsage { input: 1_100, output: 10, cached: 40, cost: None });
    let usages = usages(&world, &session.id());
    let partial: Vec<_> = usages.iter().map(|usage| (&usage["input"], &usage["partial"])).collect();
    assert_eq!(partial, [(&json!(1_000), &json!(true)), (&json!(100), &Value::Null)]);
    let types = world.types(&session.id());
    assert_eq!(types, ["user_message", "provider_usage", "assistant_message", "provider_usage"]);
    assert_eq!(session.gauge().await.unwrap().tokens, 110);
}

#[tokio::test]
async fn counts_that_cannot_be_break_nothing() {
    let world = World::new();
    let most = Some(u64::MAX);
    let usage = TokenUsage { input: most, output: most, cached: most, cache_written: most };
    let end = StreamEvent::End(End { reason: EndReason::Done, usage, request_id: None });
    let first = vec![Act::Say(StreamEvent::Text("one".into())), Act::Say(end)];
    let session = world.root(&Scripted::new(vec![first, says("two"), says("three")]));
    assert_eq!(session.execute("a").await.unwrap().usage.input, u64::MAX);
    assert_eq!(session.execute("b").await.unwrap().text, "two");
    // A runtime that reads the log again computes the same gauge.
    let other = world.kernel.open(&session.id(), session.equipment()).await.unwrap();
    assert_eq!(other.execute("c").await.unwrap().text, "three");
}

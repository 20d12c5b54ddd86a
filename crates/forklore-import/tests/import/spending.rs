//! Counts the usage in agents' records. For each model call, only the last report counts, and only
//! once.

use forklore_core::Usage;
use forklore_core::{Data, EventType, SessionId};
use forklore_engine::{Batch, Fork, NewEvent, UsageReport, UsageScope};

use crate::scene::Scene;

/// Returns a record of Claude Code: one block of the API message `call`, which reports `output`
/// output tokens so far.
fn record(uuid: &str, parent: &str, session: &str, call: &str, output: u64) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        "{{\"type\":\"assistant\",\"uuid\":\"{uuid}\",\"parentUuid\":{parent},\
         \"sessionId\":\"{session}\",\"timestamp\":\"2026-03-01T10:00:00.000Z\",\
         \"message\":{{\"role\":\"assistant\",\"id\":\"{call}\",\"model\":\"opus\",\
         \"content\":[{{\"type\":\"text\",\"text\":\"{uuid}\"}}],\"usage\":{{\"input_tokens\":3,\
         \"cache_creation_input_tokens\":7,\"cache_read_input_tokens\":90,\
         \"output_tokens\":{output}}}}}}}\n"
    )
}

/// Returns a file with two model calls. The first call has three records.
fn file(session: &str, ids: &str) -> String {
    let id = |number: u32| format!("{ids}{number}");
    record(&id(1), "", session, "msg_1", 5)
        + &record(&id(2), &id(1), session, "msg_1", 20)
        + &record(&id(3), &id(2), session, "msg_1", 35)
        + &record(&id(4), &id(3), session, "msg_2", 10)
}

fn usage(calls: u64, output: u64) -> Usage {
    Usage { input: 100 * calls, output, cached: 90 * calls, cost: 0.0 }
}

fn of(scene: &Scene, spender: &UsageScope) -> UsageReport {
    let spending = scene.engine.usage_report(spender).unwrap();
    assert!(spending.problems.is_empty(), "{:?}", spending.problems);
    spending
}

#[test]
fn the_last_of_several_records_about_one_call_counts() {
    let scene = Scene::new();
    let path = scene.file("one.jsonl", file("one", "a").as_bytes());
    let session = scene.import(&path).sessions[0].session_id.clone();
    let spending = of(&scene, &UsageScope::Session(session));
    assert_eq!(spending.usage, usage(2, 45));
    let [model] = spending.models.as_slice() else { panic!("{:?}", spending.models) };
    assert_eq!((model.model.as_deref(), model.calls), (Some("opus"), 2));
    assert_eq!(model.usage, usage(2, 45));
}

#[test]
fn nothing_is_billed_twice_over_forks_and_copies() {
    let scene = Scene::new();
    let path = scene.file("one.jsonl", file("one", "a").as_bytes());
    let session = scene.import(&path).sessions[0].session_id.clone();
    // The fork in forklore shares the records. The agent's copy repeats them with other ids, and
    // continues with a new call.
    let fork = scene.engine.fork(&Fork::of(session.clone())).unwrap().child_session_id;
    let copy = file("two", "b") + &record("b5", "b4", "two", "msg_3", 1);
    scene.import(&scene.file("two.jsonl", copy.as_bytes()));
    let all = of(&scene, &UsageScope::Everything);
    assert_eq!(all.usage, usage(3, 46));
    let costs: Vec<_> = all.by_session.iter().map(|session| session.usage).collect();
    assert_eq!(costs.len(), 2, "{:?}", all.by_session);
    assert_eq!(of(&scene, &UsageScope::Family(session)).usage, usage(2, 45));
    assert_eq!(of(&scene, &UsageScope::Session(fork)).usage, Usage::default());
}

#[test]
fn the_usage_of_an_application_is_reported_by_model() {
    let scene = Scene::new();
    let path = scene.file("one.jsonl", file("one", "a").as_bytes());
    let session: SessionId = scene.import(&path).sessions[0].session_id.clone();
    for (model, cost) in [("small", "0.25"), ("small", "0.5"), ("large", "2")] {
        let data = format!("{{\"input\":10,\"output\":1,\"cost\":{cost},\"model\":\"{model}\"}}");
        let data = Data::parse(&data).unwrap();
        let event = NewEvent::new(EventType::PROVIDER_USAGE, data);
        scene.engine.append(&session, &Batch::from(event)).unwrap();
    }
    let spending = of(&scene, &UsageScope::Session(session));
    let names: Vec<_> = spending.models.iter().map(|model| model.model.as_deref()).collect();
    assert_eq!(names, [Some("large"), Some("small"), Some("opus")], "the dearest first");
    let mut sum = usage(2, 48);
    (sum.input, sum.cost) = (sum.input + 30, 2.75);
    assert_eq!(spending.usage, sum);
}

#[test]
fn codex_names_the_model_of_a_turn_apart_from_its_calls() {
    let scene = Scene::new();
    let folder = crate::files::testdata().join("codex/home/sessions");
    let all = scene.import(&folder).sessions;
    let spending = of(&scene, &UsageScope::Everything);
    let models: Vec<_> = spending.models.iter().map(|model| model.model.as_deref()).collect();
    assert_eq!(models, [Some("gpt-5.5")], "{:?}", spending.models);
    assert!(spending.models[0].calls > all.len() as u64, "{:?}", spending.models);
}

#[test]
fn the_cost_of_a_history_is_reported_and_not_billed() {
    let scene = Scene::new();
    let path = scene.file("one.jsonl", file("one", "a").as_bytes());
    let session = scene.import(&path).sessions[0].session_id.clone();
    let at = |at: &str| Fork { at: Some(at.parse().unwrap()), ..Fork::of(session.clone()) };
    let inherited = |fork: &Fork| {
        let child = scene.engine.fork(fork).unwrap().child_session_id;
        let data = Data::parse("{\"input\":10,\"output\":1,\"cost\":1}").unwrap();
        let event = NewEvent::new(EventType::PROVIDER_USAGE, data);
        scene.engine.append(&child, &Batch::from(event)).unwrap();
        (
            scene.engine.inherited_usage(&child).unwrap(),
            of(&scene, &UsageScope::Session(child)).usage,
        )
    };
    let own = Usage { input: 10, output: 1, cached: 0, cost: 1.0 };
    assert_eq!(inherited(&Fork::of(session.clone())), (usage(2, 45), own));
    // For the call at the cut, the last usage reported before the cut counts.
    assert_eq!(inherited(&at("index:2")), (usage(1, 20), own));
    assert_eq!(inherited(&at("start")), (Usage::default(), own));
    assert_eq!(scene.engine.inherited_usage(&session).unwrap(), Usage::default());
}

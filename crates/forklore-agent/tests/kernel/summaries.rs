//! Tests of summaries by the model: the child records their usage, and the parent does not change.

use std::sync::Arc;
use std::time::Duration;

use forklore_agent::model::{ModelErrorKind, StreamEvent, TokenUsage};
use forklore_agent::notify::Name;
use forklore_agent::{AgentSession, Error};
use forklore_core::{Data, ErrorKind, Header, Selector};
use forklore_engine::{Fork, NewEvent, Summarize};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::each_store::on_each_store;
use crate::scripted::{Act, Scripted, says};
use crate::world::World;

on_each_store!(
    the_cost_of_a_summary_is_the_childs_and_the_parent_stays_as_it_is,
    a_models_summary_stands_behind_the_prefix_with_all_its_fields,
    a_fork_that_exists_asks_the_model_nothing,
    a_child_without_a_summary_is_not_the_requested_one,
    a_fork_that_is_refused_asks_nothing_and_leaves_nothing,
    an_interrupted_summary_makes_no_fork,
    a_summary_of_a_session_that_another_runtime_holds_needs_no_lease,
    what_failed_attempts_cost_is_recorded_with_the_fallback,
    a_summary_stops_at_the_cut,
    a_plan_has_no_child,
);

/// Returns everything that the store has of a session: its header and its events.
fn stored(world: &World, session: &AgentSession) -> (Header, Vec<(String, Value)>) {
    let id = session.id();
    (world.kernel.engine().show(&id).unwrap(), world.events(&id))
}

fn child() -> Fork {
    Fork { id: Some("kid".parse().unwrap()), ..Fork::of("ignored".parse().unwrap()) }
}

async fn the_cost_of_a_summary_is_the_childs_and_the_parent_stays_as_it_is(world: World) {
    let session = world.root(&Scripted::new(vec![says("hello"), says("in short")]));
    session.execute("hi").await.unwrap();
    let before = stored(&world, &session);
    let (branched, summary) = session.fork_with_summary(child()).await.unwrap();
    assert_eq!(summary.unwrap().strategy(), "model_summary_v1");
    assert_eq!(stored(&world, &session), before);
    let types = world.types(&branched.child.id());
    let own = ["session_fork", "user_message", "assistant_message", "branch_summary"];
    assert_eq!(types[..4], own);
    assert_eq!(types[4..], ["provider_usage"]);
    let events = world.events(&branched.child.id());
    assert_eq!(
        (&events[3].1["summary"], &events[4].1["purpose"]),
        (&"in short".into(), &"summary".into())
    );
    assert_eq!(world.kernel.engine().show(&branched.child.id()).unwrap().usage.input, 100);
    assert_eq!(branched.forked.head_seq, 4);
    branched.child.execute("on").await.unwrap();
}

async fn a_models_summary_stands_behind_the_prefix_with_all_its_fields(world: World) {
    let session = world.root(&Scripted::new(vec![says("hello"), says("in short")]));
    session.execute("hi").await.unwrap();
    let call = json!({"id": "c", "name": "echo", "arguments": 1});
    let call = NewEvent::new("tool_call".parse().unwrap(), Data::of(&call).unwrap());
    world.kernel.engine().append(&session.id(), &vec![call].into()).unwrap();
    let before = stored(&world, &session);
    let (branched, _) = session.fork_with_summary(child()).await.unwrap();
    assert_eq!(stored(&world, &session), before);
    let events = world.events(&branched.child.id());
    let kinds: Vec<_> = events.iter().map(|(kind, _)| kind.as_str()).collect();
    let prefix = ["session_fork", "user_message", "assistant_message", "tool_call"];
    assert_eq!(kinds[..4], prefix);
    assert_eq!(kinds[4..], ["tool_result", "branch_summary", "provider_usage"]);
    assert_eq!(events[4].1["synthetic"], true);
    let of = json!({"session_id": session.id(), "from_index": 0, "to_index": 3});
    let limits = "interpretive context; it replaces nothing of the history";
    let expected = json!({"strategy": "model_summary_v1", "summary": "in short", "of": of,
        "model": "small", "limitations": [limits]});
    assert_eq!(events[5].1, expected);
    let mut usage = events[6].1.clone();
    usage.as_object_mut().unwrap().remove("ms").unwrap();
    let expected = json!({"purpose": "summary", "provider": "test", "model": "small",
        "input": 100, "cached": 40, "output": 10, "request_id": "r"});
    assert_eq!(usage, expected);
}

async fn a_fork_that_exists_asks_the_model_nothing(world: World) {
    let model = Scripted::new(vec![]);
    let session = world.root(&model);
    session.execute("hi").await.unwrap();
    let (first, _) = session.fork_with_summary(child()).await.unwrap();
    let before = stored(&world, &first.child);
    let (again, summary) = session.fork_with_summary(child()).await.unwrap();
    assert!(again.forked.existing && !again.forked.recorded && summary.is_none());
    assert_eq!(stored(&world, &again.child), before);
    assert_eq!(model.requests().len(), 2);
}

async fn a_child_without_a_summary_is_not_the_requested_one(world: World) {
    let model = Scripted::new(vec![]);
    let session = world.root(&model);
    session.execute("hi").await.unwrap();
    let _plain = session.fork(child()).await.unwrap();
    let error = session.fork_with_summary(child()).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(error.details()["differs"], "the summary");
    assert_eq!(model.requests().len(), 1);
}

async fn a_fork_that_is_refused_asks_nothing_and_leaves_nothing(world: World) {
    let model = Scripted::new(vec![]);
    let session = world.root(&model);
    session.execute("hi").await.unwrap();
    let before = stored(&world, &session);
    let beyond = Fork { at: Some(Selector::Turn(9)), ..child() };
    let error = session.fork_with_summary(beyond).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgs);
    let clash = Fork { label: Some("main".parse().unwrap()), ..child() };
    let error = session.fork_with_summary(clash).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(stored(&world, &session), before);
    assert_eq!(model.requests().len(), 1);
}

async fn an_interrupted_summary_makes_no_fork(world: World) {
    let session = world.root(&Scripted::new(vec![says("hello"), vec![Act::Hang]]));
    session.execute("hi").await.unwrap();
    let before = stored(&world, &session);
    let forking = session.clone();
    let forking = tokio::spawn(async move { forking.fork_with_summary(child()).await });
    while world.ears.of(Name::ProviderRequest).len() < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(session.interrupt());
    let error = forking.await.unwrap().err().unwrap();
    assert!(matches!(error, Error::Interrupted { .. }), "{error}");
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    assert_eq!(stored(&world, &session), before);
    assert!(world.kernel.engine().show(&child().id.unwrap()).is_err());
    assert!(world.ears.of(Name::SessionFork).is_empty());
    // `summarize` without a fork reports the interruption too. The session can then continue.
    let summing = session.clone();
    let usage = TokenUsage { input: Some(7), ..TokenUsage::default() };
    let begun = Act::Say(StreamEvent::Usage { usage, request_id: None });
    let read = Arc::new(Notify::new());
    session.set_model(Scripted::new(vec![vec![begun, Act::Signal(read.clone()), Act::Hang]]));
    let summing = tokio::spawn(async move { summing.summarize().await });
    read.notified().await;
    assert!(session.interrupt());
    let error = summing.await.unwrap().unwrap_err();
    assert!(matches!(error, Error::Interrupted { .. }), "{error}");
    let usage = &error.details()["usage"];
    assert_eq!((&usage[0]["input"], &usage[0]["partial"]), (&7.into(), &true.into()), "{usage}");
    session.execute("and on").await.unwrap();
}

async fn a_summary_of_a_session_that_another_runtime_holds_needs_no_lease(world: World) {
    let session = world.root(&Scripted::new(vec![]));
    session.execute("hi").await.unwrap();
    world.kernel.engine().take_lease(&session.id(), "another").unwrap();
    let (branched, _) = session.fork_with_summary(child()).await.unwrap();
    assert!(branched.forked.recorded);
    let lease = world.kernel.engine().show(&session.id()).unwrap().lease.unwrap();
    assert_eq!(lease.owner, "another");
}

async fn what_failed_attempts_cost_is_recorded_with_the_fallback(world: World) {
    let usage = TokenUsage { input: Some(7), ..TokenUsage::default() };
    let found = Act::Say(StreamEvent::Usage { usage, request_id: None });
    let failing = vec![found, Act::Fail(ModelErrorKind::Key)];
    let session = world.root(&Scripted::new(vec![says("hello"), failing]));
    session.execute("hi").await.unwrap();
    let (branched, summary) = session.fork_with_summary(child()).await.unwrap();
    assert!(matches!(summary, Some(Summarize::Fallback { .. })), "{summary:?}");
    assert_eq!(world.kernel.engine().show(&branched.child.id()).unwrap().usage.input, 7);
}

async fn a_summary_stops_at_the_cut(world: World) {
    let model = Scripted::new(vec![]);
    let session = world.root(&model);
    session.execute("first").await.unwrap();
    session.execute("second").await.unwrap();
    let early = Fork { at: Some(Selector::Turn(1)), ..child() };
    let (branched, _) = session.fork_with_summary(early).await.unwrap();
    let transcript = model.requests()[2].messages[0].plain_text();
    assert!(transcript.contains("first") && !transcript.contains("second"), "{transcript}");
    assert_eq!(branched.forked.cut.index, 2);
}

async fn a_plan_has_no_child(world: World) {
    let session = world.root(&Scripted::new(vec![]));
    session.execute("hi").await.unwrap();
    let before = stored(&world, &session);
    let planned = session.plan_fork(child()).await.unwrap();
    assert!(planned.dry_run && !planned.recorded);
    let error = session.fork(Fork { dry_run: true, ..child() }).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgs);
    assert_eq!(stored(&world, &session), before);
    assert!(world.kernel.engine().show(&planned.child_session_id).is_err());
}

//! Tests which calls are allowed and who decides. The decision is recorded before the call runs.

use std::sync::Arc;
use std::time::Duration;

use forklore_agent::approve::{Answer, Approve, Policy, Question, Rule};
use forklore_agent::notify::Name;
use forklore_agent::tool::ToolCall;
use forklore_core::{Data, EventType};
use forklore_engine::{Fork, NewEvent};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::json;

use crate::each_store::on_each_store;
use crate::scripted::{Scripted, calls, says};
use crate::world::{World, equipment, new_session};

on_each_store!(
    what_was_decided_stands_before_what_was_done,
    a_turn_waits_for_no_refused_call,
    no_event_widens_the_permission_ceiling,
);

struct Rules;

impl Policy for Rules {
    fn rule(&self, call: &ToolCall) -> Rule {
        match call.name.as_str() {
            "echo" => Rule::Allow,
            "fail" => Rule::Deny,
            _ => Rule::Ask,
        }
    }
}

struct SlowOnly;

impl Approve for SlowOnly {
    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        let slow = question.call.as_ref().is_some_and(|call| call.name == "slow");
        async move {
            if slow { Answer::Granted(Some("this once".into())) } else { Answer::Denied(None) }
        }
        .boxed()
    }
}

async fn what_was_decided_stands_before_what_was_done(world: World) {
    let all =
        calls(&[("1", "echo", "1"), ("2", "fail", "{}"), ("3", "slow", "1"), ("4", "flood", "9")]);
    let model = Scripted::new(vec![all, says("done")]);
    let session = world.root(&model);
    session.equip(|equipment| {
        equipment.policy = Arc::new(Rules);
        equipment.approve = Arc::new(SlowOnly);
    });
    session.execute("go").await.unwrap();
    let events = world.events(&session.id());
    let decisions: Vec<_> = events
        .iter()
        .filter(|(kind, _)| kind == "permission_decision")
        .map(|(_, data)| data.clone())
        .collect();
    let expected = [
        json!({"call_id": "1", "name": "echo", "decision": "allow", "by": "policy"}),
        json!({"call_id": "2", "name": "fail", "decision": "deny", "by": "policy",
            "reason": "the user's policy denies it"}),
        json!({"call_id": "3", "name": "slow", "decision": "allow", "by": "person",
            "reason": "this once"}),
        json!({"call_id": "4", "name": "flood", "decision": "deny", "by": "person",
            "reason": "the person said no"}),
    ];
    assert_eq!(decisions, expected);
    let names = world.ears.names(None);
    let location = |name: &str| names.iter().position(|report| *report == name).unwrap();
    assert!(location("approval:required") < location("approval:granted"));
    assert!(location("approval:denied") < location("tool:pre"));
    assert_eq!(world.ears.of(Name::ToolPre).len(), 2);
}

async fn a_turn_waits_for_no_refused_call(world: World) {
    let model = Scripted::new(vec![calls(&[("1", "fail", "{}")]), says("done")]);
    let session = world.root(&model);
    session.equip(|equipment| {
        equipment.policy = Arc::new(Rules);
        // So long that the test would not end.
        equipment.settings.grace = Duration::from_secs(24 * 60 * 60);
    });
    assert_eq!(session.execute("go").await.unwrap().text, "done");
}

async fn no_event_widens_the_permission_ceiling(world: World) {
    let model = Scripted::new(vec![calls(&[("1", "echo", "1"), ("2", "slow", "1")])]);
    let mut new = new_session();
    new.permissions = Some(["echo".to_owned(), "fail".to_owned()].into());
    let root = world.kernel.create(new, equipment(&model));
    root.initialize().await.unwrap();
    let claim = NewEvent {
        class: Some(forklore_core::Class::Evidence),
        ..NewEvent::new(
            EventType::extension("app", "permissions"),
            Data::parse(r#"{"permissions":["slow"]}"#).unwrap(),
        )
    };
    world.kernel.engine().append(&root.id(), &claim.into()).unwrap();
    root.execute("go").await.unwrap();
    let by = |id: &forklore_core::SessionId| {
        let events = world.events(id);
        let decisions = events.into_iter().filter(|(kind, _)| kind == "permission_decision");
        decisions
            .map(|(_, data)| (data["decision"].clone(), data["by"].clone()))
            .collect::<Vec<_>>()
    };
    let expected = vec![(json!("allow"), json!("policy")), (json!("deny"), json!("ceiling"))];
    assert_eq!(by(&root.id()), expected);

    // A child continues the numbering of its parent. It inherits the ceiling, or a part of the
    // ceiling if the request names one.
    let fewer = Fork { permissions: Some(["fail".to_owned()].into()), ..Fork::of(root.id()) };
    let child = root.fork(fewer).await.unwrap().child;
    let before = world.kernel.engine().show(&child.id()).unwrap().head_seq();
    let again = Scripted::new(vec![calls(&[("3", "echo", "1")])]);
    child.set_model(again);
    let turn = child.execute("go on").await.unwrap();
    assert_eq!(turn.head_seq, before + 8);
    assert_eq!(by(&child.id())[2..], [(json!("deny"), json!("ceiling"))]);
    let more = Fork { permissions: Some(["slow".to_owned()].into()), ..Fork::of(root.id()) };
    let refused = root.fork(more).await.err().unwrap();
    assert_eq!(refused.kind(), forklore_core::ErrorKind::PermissionDenied);
}

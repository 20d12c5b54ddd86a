//! Tests of models that call unknown tools or repeat failing calls.

use std::sync::Arc;

use forklore_agent::Status;
use forklore_agent::approve::{Answer, Approve, Policy, Question, Rule};
use forklore_agent::notify::Name;
use forklore_agent::tool::ToolCall;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::json;

use crate::scripted::{Act, Scripted, calls, says};
use crate::world::{World, equipment, new_session};

/// A policy and a person that panic if the kernel consults them.
struct Never;

impl Policy for Never {
    fn rule(&self, call: &ToolCall) -> Rule {
        panic!("asked about {}", call.name)
    }
}

impl Approve for Never {
    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        panic!("asked {}", question.prompt)
    }
}

/// A person who denies every call.
struct No;

impl Policy for No {
    fn rule(&self, _: &ToolCall) -> Rule {
        Rule::Ask
    }
}

impl Approve for No {
    fn approve<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        async { Answer::Denied(None) }.boxed()
    }
}

#[tokio::test]
async fn nobody_approves_a_call_of_a_missing_tool() {
    let world = World::new();
    let model = Scripted::new(vec![calls(&[("1", "weather", "{}")]), says("sorry")]);
    let mut equipment = equipment(&model);
    equipment.policy = Arc::new(Never);
    equipment.approve = Arc::new(Never);
    let session = world.kernel.create(new_session(), equipment);
    assert_eq!(session.execute("go").await.unwrap().text, "sorry");
    let why = "there is no tool weather; there are: \
               echo, slow, steps, fail, crash, hang, deaf, flood";
    let events = world.events(&session.id());
    let decision = json!({"call_id": "1", "name": "weather", "decision": "deny", "by": "kernel",
        "reason": why});
    assert_eq!(events[4], ("permission_decision".to_owned(), decision));
    let result = json!({"call_id": "1", "name": "weather", "content": why, "is_error": true});
    assert_eq!(events[5], ("tool_result".to_owned(), result));
    assert!(world.ears.of(Name::ApprovalRequired).is_empty());
}

/// Runs a turn with these answers. Returns how the turn ends, and the number of requests.
async fn ends(answers: Vec<Vec<Act>>, most: Option<u32>, asking: bool) -> (Status, usize) {
    let world = World::new();
    let model = Scripted::new(answers);
    let mut equipment = equipment(&model);
    equipment.settings.stuck_rounds = most;
    if asking {
        equipment.policy = Arc::new(No);
        equipment.approve = Arc::new(No);
    }
    let session = world.kernel.create(new_session(), equipment);
    let turn = session.execute("go").await.unwrap();
    assert!(world.kernel.engine().inspect(&session.id()).unwrap().balanced);
    (turn.status, model.requests().len())
}

fn rounds(name: &str, arguments: impl Fn(u32) -> String) -> Vec<Vec<Act>> {
    (0..8).map(|round| calls(&[(&round.to_string(), name, &arguments(round))])).collect()
}

fn stuck(why: &str) -> Status {
    Status::Incomplete(format!("5 times in a row its calls failed in the same way: {why}"))
}

#[tokio::test]
async fn calls_that_fail_alike_end_the_turn() {
    let number = |round: u32| round.to_string();
    let same = |_| "1".to_owned();
    let missing = "there is no tool weather; there are: \
                   echo, slow, steps, fail, crash, hang, deaf, flood";
    let five = Some(5);
    assert_eq!(ends(rounds("weather", number), five, false).await, (stuck(missing), 5));
    assert_eq!(ends(rounds("fail", same), five, false).await, (stuck("it failed"), 5));
    let no = "the person said no";
    assert_eq!(ends(rounds("echo", number), five, true).await, (stuck(no), 5));
    // Calls with other arguments are not repetitions. Without a limit on rounds, only the budget
    // ends the turn.
    assert_eq!(ends(rounds("fail", number), five, false).await, (Status::Success, 9));
    assert_eq!(ends(rounds("weather", number), None, false).await, (Status::Success, 9));
}

#[tokio::test]
async fn one_that_succeeds_or_fails_otherwise_begins_the_count_anew() {
    let mut mixed = rounds("weather", |_| "1".to_owned());
    mixed[4] = calls(&[("a", "weather", "1"), ("b", "echo", "1")]);
    assert_eq!(ends(mixed, Some(5), false).await, (Status::Success, 9));
    let mut other = rounds("weather", |_| "1".to_owned());
    other[4] = calls(&[("a", "map", "1")]);
    assert_eq!(ends(other, Some(5), false).await, (Status::Success, 9));
}

#[tokio::test]
async fn many_tools_are_not_all_named() {
    use forklore_agent::tool::{CallContext, ToolOutcome, ToolSpec, Tools};
    use forklore_core::Data;

    struct Many;
    impl Tools for Many {
        fn specs(&self) -> Vec<ToolSpec> {
            let spec = |number: u32| ToolSpec {
                name: format!("t{number}"),
                description: String::new(),
                parameters: Data::parse("{}").unwrap(),
            };
            (0..60).map(spec).collect()
        }

        fn call<'a>(&'a self, _: &'a ToolCall, _: &'a CallContext) -> BoxFuture<'a, ToolOutcome> {
            async { ToolOutcome::text("") }.boxed()
        }
    }
    let world = World::new();
    let model = Scripted::new(vec![calls(&[("1", "weather", "{}")])]);
    let mut equipment = equipment(&model);
    equipment.tools = Arc::new(Many);
    let session = world.kernel.create(new_session(), equipment);
    session.execute("go").await.unwrap();
    let result = &world.events(&session.id())[5].1["content"];
    let result = result.as_str().unwrap();
    assert!(result.starts_with("there is no tool weather; there are: t0, t1, "), "{result}");
    assert!(result.ends_with(", t49 and 10 more"), "{result}");
}

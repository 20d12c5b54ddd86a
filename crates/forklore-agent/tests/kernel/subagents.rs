//! Tests of the delegation tool: how deep it nests, and with which tools and which budget.

use std::collections::BTreeSet;
use std::sync::Arc;

use forklore_agent::delegate_tool::{DelegateTool, Limits};
use forklore_agent::notify::Name;
use forklore_agent::permissions::Ceiling;
use forklore_agent::{AgentSession, NewSession};
use forklore_core::SessionId;
use serde_json::{Value, json};

use crate::scripted::{Scripted, calls, says};
use crate::world::{World, equipment, new_session};

fn names<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.into_iter().map(ToOwned::to_owned).collect()
}

/// Creates a session that can delegate. `permissions` is its ceiling.
fn session(
    world: &World,
    model: &Arc<Scripted>,
    limits: Limits,
    permissions: Option<BTreeSet<String>>,
) -> AgentSession {
    let mut equipment = equipment(model);
    equipment.delegation = DelegateTool::within(limits);
    world.kernel.create(NewSession { permissions, ..new_session() }, equipment)
}

/// Returns, for each request of the model, the names of the tools in it.
fn requests(model: &Scripted) -> Vec<Vec<String>> {
    let requests = model.requests().into_iter();
    requests.map(|request| request.tools.into_iter().map(|spec| spec.name).collect()).collect()
}

fn results(world: &World, id: &SessionId) -> Vec<(Value, bool)> {
    let events = world.events(id).into_iter().filter(|(kind, _)| kind == "tool_result");
    events.map(|(_, data)| (data["content"].clone(), data["is_error"] == json!(true))).collect()
}

fn children(world: &World) -> Vec<SessionId> {
    world
        .ears
        .of(Name::SessionFork)
        .iter()
        .map(|notification| notification.session_id.clone())
        .collect()
}

const ALL: [&str; 8] = ["echo", "slow", "steps", "fail", "crash", "hang", "deaf", "flood"];

#[tokio::test]
async fn work_goes_down_as_deep_as_the_limits_allow() {
    let world = World::new();
    let down =
        |id: &str, task: &str| calls(&[(id, "delegate", &json!({"task": task}).to_string())]);
    let model = Scripted::new(vec![
        down("a", "one"),
        down("b", "two"),
        down("c", "three"),
        says("no deeper"),
        says("second"),
        says("first"),
    ]);
    let root = session(&world, &model, Limits::default(), None);
    assert_eq!(root.execute("go").await.unwrap().text, "first");
    let with = [&ALL[..], &["delegate"]].concat();
    let expected = [&with[..], &with, &ALL, &ALL, &with, &with];
    assert_eq!(requests(&model), expected);
    // The first message of each sub-agent is its task.
    let begins = |at: usize| model.requests()[at].messages[0].plain_text();
    assert_eq!((begins(1), begins(2)), ("one".to_owned(), "two".to_owned()));

    let children = children(&world);
    assert_eq!(children.len(), 2);
    let outcome = |text: &str, failed: bool| vec![(json!(text), failed)];
    assert_eq!(results(&world, &root.id()), outcome("second", false));
    assert_eq!(results(&world, &children[0]), outcome("no deeper", false));
    let deep = format!("there is no tool delegate; there are: {}", ALL.join(", "));
    assert_eq!(results(&world, &children[1]), outcome(&deep, true));
}

#[tokio::test]
async fn no_depth_is_no_tool() {
    assert!(DelegateTool::within(Limits { depth: 0, ..Limits::default() }).is_none());
}

#[tokio::test]
async fn a_sub_agent_has_what_it_is_given_and_never_more_than_its_parent() {
    let world = World::new();
    let ask = json!({"task": "work", "name": "helper", "tools": ["echo", "slow", "crash"]});
    let model = Scripted::new(vec![
        calls(&[("a", "delegate", &ask.to_string())]),
        calls(&[("b", "echo", "1"), ("c", "slow", "1"), ("d", "crash", "1"), ("e", "fail", "1")]),
        says("done"),
        says("so it is done"),
    ]);
    let ceiling = names(["delegate", "echo", "fail", "slow"]);
    let root = session(&world, &model, Limits::default(), Some(ceiling));
    root.execute("go").await.unwrap();
    let child = &children(&world)[0];
    let header = world.kernel.engine().show(child).unwrap();
    assert_eq!(header.permissions, Some(names(["echo", "slow"])));
    assert_eq!(header.title.as_deref(), Some("helper"));
    assert_eq!(requests(&model)[1], ["echo", "slow"]);
    let without = |name| format!("there is no tool {name}; there are: echo, slow");
    let expected = [
        (json!("1"), false),
        (json!("after 1"), false),
        (json!(without("crash")), true),
        (json!(without("fail")), true),
    ];
    assert_eq!(results(&world, child), expected);
}

#[tokio::test]
async fn several_work_side_by_side_within_their_budget() {
    let world = World::new();
    let task = |task: &str| json!({"task": task}).to_string();
    let two = calls(&[("a", "delegate", &task("one")), ("b", "delegate", &task("two"))]);
    let again = || calls(&[("x", "echo", "1")]);
    let model = Scripted::new(vec![two, again(), again(), says("enough")]);
    let limits = Limits { model_calls: 1, ..Limits::default() };
    let root = session(&world, &model, limits, None);
    assert_eq!(root.execute("go").await.unwrap().text, "enough");
    let cut = "it was cut short: 1 call of the model\n\nIts last words:\nlet me see";
    assert_eq!(results(&world, &root.id()), [(json!(cut), true), (json!(cut), true)]);
}

#[tokio::test]
async fn senseless_calls_are_refused_in_words() {
    let world = World::new();
    let wrong = [
        ("1", json!({})),
        ("2", json!({"task": " "})),
        ("3", json!({"task": "x", "budget": 9})),
        ("4", json!("x")),
    ];
    let wrong = wrong.map(|(id, arguments)| (id, arguments.to_string()));
    let made: Vec<_> = wrong.iter().map(|(id, it)| (*id, "delegate", it.as_str())).collect();
    let model = Scripted::new(vec![calls(&made), says("sorry")]);
    let root = session(&world, &model, Limits::default(), None);
    root.execute("go").await.unwrap();
    assert_eq!(children(&world).len(), 0);
    insta::assert_json_snapshot!(results(&world, &root.id()));
}

#[test]
fn a_ceiling_only_gets_lower() {
    let of = |names: Option<BTreeSet<String>>| Ceiling::from(names);
    let (none, ab, bc) = (of(None), of(Some(names(["a", "b"]))), of(Some(names(["b", "c"]))));
    assert_eq!(none.and(&none), none);
    assert_eq!(none.and(&ab), ab);
    assert_eq!(ab.and(&none), ab);
    assert_eq!(ab.and(&bc), of(Some(names(["b"]))));
    assert_eq!(ab.and(&of(Some(names([])))), of(Some(names([]))));
    assert!(none.allows("x") && ab.allows("a") && !ab.allows("c"));
}

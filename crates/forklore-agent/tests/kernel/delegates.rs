//! Tests of sub-agents: a fresh context, a separate budget, and a result for the parent.

use std::sync::Arc;
use std::time::Duration;

use forklore_agent::notify::Name;
use forklore_agent::tool::{CallContext, ToolCall, ToolOutcome, ToolSpec, Tools};
use forklore_agent::{AgentSession, Budget, Delegate, Delegation, Error, SessionConfig, Status};
use forklore_core::{Data, Header, SessionKind};
use forklore_engine::Fork;
use futures_util::future::BoxFuture;
use serde_json::json;

use crate::scripted::{Act, Scripted, calls, says};
use crate::world::World;

/// Delegates the prompt in the call's arguments, down to this depth. All sub-agents use the
/// parent's model.
struct Down(u64);

impl Delegation for Down {
    fn spec(&self) -> ToolSpec {
        let parameters = Data::of(&json!({"type": "string"})).unwrap();
        ToolSpec { name: "delegate".into(), description: "a sub-agent".into(), parameters }
    }

    fn plan(
        &self,
        call: &ToolCall,
        header: &Header,
        _: &SessionConfig,
    ) -> Result<Delegate, String> {
        if header.depth >= self.0 {
            return Err("sub-agents of this depth have none of their own".into());
        }
        let prompt: String = call.arguments.read().map_err(|_| "a string, please".to_owned())?;
        Ok(Delegate { agent: Some("worker".into()), ..Delegate::new(&prompt) })
    }
}

fn delegating(world: &World, model: &Arc<Scripted>) -> AgentSession {
    let session = world.root(model);
    session.equip(|equipment| equipment.delegation = Some(Arc::new(Down(3))));
    session
}

#[tokio::test]
async fn a_sub_agent_of_the_application_tells_its_result() {
    let world = World::new();
    let model = Scripted::new(vec![says("hello"), says("the answer is 4"), says("so 4")]);
    let session = world.root(&model);
    session.execute("hi").await.unwrap();
    let delegated = session.delegate(Delegate::new("two and two?")).await.unwrap();
    assert_eq!(delegated.turn.unwrap().text, "the answer is 4");

    // The sub-agent's context contains only its prompt.
    assert_eq!(model.requests()[1].messages.len(), 1);
    let child = world.kernel.engine().show(&delegated.session_id).unwrap();
    assert_eq!((child.kind, child.parent_id), (SessionKind::Delegate, Some(session.id())));
    assert_eq!(child.cut.unwrap().index, 2);
    // The usage of the sub-agent is recorded in its own session.
    let parent = world.kernel.engine().show(&session.id()).unwrap();
    assert_eq!((child.usage.input, parent.usage.input), (100, 100));

    let events = world.events(&session.id());
    let notifications: Vec<_> =
        events.iter().filter(|(kind, _)| kind == "subagent_event").collect();
    assert_eq!(notifications[0].1, json!({"session_id": child.id, "status": "running"}));
    let result = json!({"session_id": child.id, "status": "finished", "result": "the answer is 4"});
    assert_eq!(notifications[1].1, result);

    session.execute("so?").await.unwrap();
    let seen = serde_json::to_string(&model.requests()[2].messages).unwrap();
    assert!(seen.contains("the answer is 4"), "{seen}");
    assert_eq!(world.ears.names(Some(&child.id))[..2], ["session:fork", "session:start"]);
    assert_eq!(world.ears.names(Some(&child.id)).last().unwrap(), "session:end");
}

#[tokio::test]
async fn a_model_hands_work_down_three_levels() {
    let world = World::new();
    let down = |id: &str, to: &str| calls(&[(id, "delegate", &format!("{to:?}"))]);
    let model = Scripted::new(vec![
        down("a", "level one"),
        down("b", "level two"),
        down("c", "level three"),
        down("d", "too deep"),
        says("third"),
        says("second"),
        says("first"),
        says("root"),
    ]);
    let session = delegating(&world, &model);
    assert_eq!(session.execute("go").await.unwrap().text, "root");

    let forks = world.ears.of(Name::SessionFork);
    let spawned = world.ears.of(Name::DelegateSpawned);
    assert_eq!((forks.len(), spawned.len()), (3, 3));
    let ids: Vec<_> = forks.iter().map(|messages| messages.session_id.clone()).collect();
    let lineage = world.kernel.engine().lineage(&ids[2]).unwrap();
    assert_eq!(lineage.ancestors.len(), 3);
    // The model receives each sub-agent's result only once, as the result of the call.
    let events = world.events(&ids[1]);
    let kinds: Vec<_> = events.iter().map(|(kind, _)| kind.as_str()).collect();
    let expected = [
        "session_fork",
        "user_message",
        "assistant_message",
        "tool_call",
        "provider_usage",
        "permission_decision",
        "subagent_event",
        "subagent_event",
        "tool_result",
        "assistant_message",
        "provider_usage",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(events[7].1["result"], json!(null));
    assert_eq!(events[8].1["content"], "third");
    // The fourth level is refused. The reason is the result that the model receives.
    let refused = &world.events(&ids[2])[6].1;
    assert_eq!(refused["content"], "sub-agents of this depth have none of their own");
    assert_eq!(refused["is_error"], true);
    let usage = world.kernel.engine().show(&session.id()).unwrap().usage;
    assert_eq!(usage.input, 200);
}

/// Tools whose `specs` panics.
struct Unlisted;

impl Tools for Unlisted {
    fn specs(&self) -> Vec<ToolSpec> {
        panic!("scripted crash of a list")
    }

    fn call<'a>(&'a self, _: &'a ToolCall, _: &'a CallContext) -> BoxFuture<'a, ToolOutcome> {
        unreachable!("its tools are not listed")
    }
}

/// Delegates the call's prompt to a sub-agent with its own model. Panics if the prompt is `crash`.
struct Crashing(Arc<Scripted>);

impl Delegation for Crashing {
    fn spec(&self) -> ToolSpec {
        Down(1).spec()
    }

    fn plan(
        &self,
        call: &ToolCall,
        header: &Header,
        config: &SessionConfig,
    ) -> Result<Delegate, String> {
        let mut delegate = Down(1).plan(call, header, config)?;
        let mut own = SessionConfig { model: self.0.clone(), ..config.clone() };
        own.delegation = None;
        if delegate.prompt == "crash" {
            own.tools = Arc::new(Unlisted);
        }
        delegate.session_config = Some(own);
        Ok(delegate)
    }
}

#[tokio::test]
async fn a_sub_agents_panic_ends_only_its_own_call() {
    let world = World::new();
    let model = Scripted::new(vec![
        calls(&[
            ("a", "delegate", "\"work\""),
            ("b", "delegate", "\"crash\""),
            ("c", "slow", "20"),
        ]),
        says("all done"),
    ]);
    let session = world.root(&model);
    let worker = Scripted::new(vec![says("worked")]);
    session.equip(|equipment| equipment.delegation = Some(Arc::new(Crashing(worker))));
    assert_eq!(session.execute("go").await.unwrap().text, "all done");
    let crashed = "the sub-agent crashed: scripted crash of a list";
    let events = world.events(&session.id());
    let results: Vec<_> = events
        .iter()
        .filter(|(kind, _)| kind == "tool_result")
        .map(|(_, data)| (data["content"].clone(), data["is_error"] == json!(true)))
        .collect();
    let expected = [(json!("worked"), false), (json!(crashed), true), (json!("after 20"), false)];
    assert_eq!(results, expected);
    // The crash is recorded as the end of the sub-agent. The session of the sub-agent is cleaned
    // up.
    let ended: Vec<_> = events
        .iter()
        .filter(|(kind, data)| kind == "subagent_event" && data["status"] != "running")
        .map(|(_, data)| (data["status"].clone(), data["error"].clone()))
        .collect();
    assert_eq!(ended, [(json!("finished"), json!(null)), (json!("failed"), json!(crashed))]);
    for child in world.ears.of(Name::SessionFork) {
        let names = world.ears.names(Some(&child.session_id));
        assert_eq!(names.last().unwrap(), "session:end", "{names:?}");
    }
}

#[tokio::test]
async fn a_sub_agent_has_a_budget_of_its_own() {
    let world = World::new();
    let again = || calls(&[("c", "echo", "1")]);
    let model = Scripted::new(vec![again(), again(), again(), says("enough")]);
    let session = world.root(&model);
    let budget = Budget { model_calls: Some(2), ..Budget::default() };
    let delegate = Delegate { budget, ..Delegate::new("for ever") };
    let delegated = session.delegate(delegate).await.unwrap();
    let turn = delegated.turn.unwrap();
    assert_eq!(turn.status, Status::Incomplete("2 calls of the model".into()));
    let events = world.events(&session.id());
    assert_eq!(events[1].1["status"], "failed");
    assert_eq!(events[1].1["error"], "it was cut short: 2 calls of the model");
    assert_eq!(world.ears.of(Name::DelegateError).len(), 1);
}

#[tokio::test]
async fn an_interruption_reaches_the_leaves() {
    let world = World::new();
    let down = |id: &str| calls(&[(id, "delegate", "\"deeper\"")]);
    let hang =
        vec![Act::Say(forklore_agent::model::StreamEvent::Text("thinking".into())), Act::Hang];
    let model = Scripted::new(vec![down("a"), down("b"), hang, says("again")]);
    let session = delegating(&world, &model);
    let running = session.clone();
    let turn = tokio::spawn(async move { running.execute("go").await });
    while world.ears.of(Name::SessionStart).len() < 3
        || model.requests().len() < 3
        || world.ears.of(Name::ContentBlockDelta).len() < 3
    {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    session.interrupt();
    let turn = turn.await.unwrap().unwrap();
    assert_eq!(turn.status, Status::Cancelled);
    for notification in world.ears.of(Name::SessionStart) {
        let id = &notification.session_id;
        let seen = world.kernel.engine().inspect(id).unwrap();
        assert!(seen.balanced, "{id}: {seen:?}");
        assert!(world.kernel.engine().show(id).unwrap().lease.is_none());
    }
    assert_eq!(world.ears.of(Name::SessionEnd).len(), 2);
    assert_eq!(session.execute("go on").await.unwrap().text, "again");
}

#[tokio::test]
async fn a_sub_agent_never_has_more_than_its_parent() {
    let world = World::new();
    let model = Scripted::new(vec![calls(&[("c", "echo", "1")]), says("done")]);
    let mut new = crate::world::new_session();
    new.permissions = Some(["echo".to_owned()].into());
    let session = world.kernel.create(new, crate::world::equipment(&model));
    let more = ["echo".to_owned(), "flood".to_owned()];
    let delegate = Delegate { permissions: Some(more.into()), ..Delegate::new("go") };
    let error = session.delegate(delegate).await.unwrap_err();
    assert!(matches!(error, Error::Engine(_)), "{error}");
    assert_eq!(error.kind(), forklore_core::ErrorKind::PermissionDenied);
    assert!(world.types(&session.id()).is_empty());

    let none = Delegate { permissions: Some([].into()), ..Delegate::new("go") };
    let child = session.delegate(none).await.unwrap().session_id;
    let events = world.events(&child);
    let decision = events.iter().find(|(kind, _)| kind == "permission_decision").unwrap();
    assert_eq!((&decision.1["decision"], &decision.1["by"]), (&json!("deny"), &json!("ceiling")));
}

#[tokio::test]
async fn a_sub_agent_is_given_more_to_do() {
    let world = World::new();
    let model = Scripted::new(vec![says("four"), says("five")]);
    let session = world.root(&model);
    let first = session.delegate(Delegate::new("two and two?")).await.unwrap().session_id;
    let more = Delegate { resume: Some(first.clone()), ..Delegate::new("and one?") };
    let again = session.delegate(more).await.unwrap();
    assert_eq!((again.session_id, again.turn.unwrap().text.as_str()), (first.clone(), "five"));
    // The second request contains the messages of the first task.
    assert_eq!(model.requests()[1].messages.len(), 3);
    assert_eq!(world.ears.of(Name::SessionFork).len(), 1);
    assert_eq!(world.ears.of(Name::DelegateResumed).len(), 1);
    let stranger = world.root(&model);
    let other = Delegate { resume: Some(first), ..Delegate::new("and mine?") };
    let error = stranger.delegate(other).await.unwrap_err();
    assert!(matches!(error, Error::NotADelegate(_)), "{error}");
}

#[tokio::test]
async fn a_branch_is_no_sub_agent() {
    let world = World::new();
    let session = world.root(&Scripted::new(vec![says("A")]));
    session.execute("A or B?").await.unwrap();
    let branch = session.fork(Fork::of(session.id())).await.unwrap().child.id();
    let before = (world.events(&session.id()), world.events(&branch));
    let more = Delegate { resume: Some(branch.clone()), ..Delegate::new("go on") };
    let error = session.delegate(more).await.unwrap_err();
    let expected = format!("session {branch} is no sub-agent of this one; name one that it made");
    assert_eq!(error.to_string(), expected);
    assert_eq!((world.events(&session.id()), world.events(&branch)), before);
}

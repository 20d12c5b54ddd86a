//! Tests that sessions are created, started, resumed, forked and ended, and that each step is
//! announced once and in order.

use std::sync::Arc;
use std::time::Duration;

use forklore_agent::hook::{Decision, ForkInput, Hook, Moment, Verdict};
use forklore_agent::model::ModelErrorKind;
use forklore_agent::notify::{Name, Notification};
use forklore_agent::{AgentSession, Error, Kernel, NewSession};
use forklore_core::{ErrorKind, SessionId};
use forklore_engine::Fork;
use futures_util::FutureExt;
use serde_json::json;
use tokio::sync::Notify;

use crate::each_store::on_each_store;
use crate::scripted::{Act, Scripted, says};
use crate::world::{World, data, equipment, new_session};

on_each_store!(
    start_and_resume_come_once_over_many_turns,
    a_child_is_announced_once_when_it_is_durable,
    resuming_a_child_announces_no_fork,
    every_event_of_a_child_names_its_parent,
    the_end_comes_once_and_last,
    nested_children_end_leaves_first,
    an_unknown_session_is_never_a_new_one,
    a_grandchild_ends_although_the_handle_of_its_parent_is_gone,
    a_fork_made_without_the_kernel_ends_too,
    a_fork_that_is_being_made_does_not_outlive_its_parent,
    the_end_says_how_the_last_turn_ended,
);

const TURN: [&str; 6] = [
    "prompt:submit",
    "provider:request",
    "content_block:end",
    "provider:response",
    "context:gauge",
    "prompt:complete",
];

fn turn(first: &'static str) -> Vec<&'static str> {
    let mut names = vec![first];
    names.extend(TURN);
    names.push("orchestrator:complete");
    names.retain(|name| !name.is_empty());
    names
}

async fn start_and_resume_come_once_over_many_turns(world: World) {
    let model = Scripted::new(vec![]);
    let session = world.root(&model);
    for _ in 0..3 {
        session.execute("go").await.unwrap();
    }
    let expected = [turn("session:start"), turn(""), turn("")].concat();
    assert_eq!(world.ears.names(None), expected);

    let again = world.kernel.open(&session.id(), equipment(&model)).await.unwrap();
    again.execute("go on").await.unwrap();
    again.execute("and on").await.unwrap();
    let expected = [expected, turn("session:resume"), turn("")].concat();
    assert_eq!(world.ears.names(None), expected);
}

async fn a_child_is_announced_once_when_it_is_durable(world: World) {
    let model = Scripted::new(vec![]);
    let root = world.root(&model);
    root.execute("go").await.unwrap();

    let parent_id = Some(root.id());
    let child = NewSession { parent_id, id: Some("kid".parse().unwrap()), ..new_session() };
    let child = world.kernel.create(child, equipment(&model));
    child.initialize().await.unwrap();
    child.initialize().await.unwrap();
    child.execute("your part").await.unwrap();

    let notification = world.ears.of(Name::SessionFork);
    assert_eq!(notification.len(), 1);
    let answer = serde_json::to_value(&*notification[0]).unwrap();
    assert_eq!(answer["event"], "session:fork");
    assert_eq!(answer["session_id"], "kid");
    assert_eq!(answer["parent_id"], json!(root.id()));
    assert_eq!(answer["parent"], json!(root.id()));
    assert_eq!(answer["root_id"], json!(root.id()));
    assert_eq!(answer["data"]["parent"], json!(root.id()));
    assert_eq!(answer["data"]["kind"], "delegate");
    assert_eq!(answer["data"].get("metadata"), None);
    let names = world.ears.names(Some(&child.id()));
    assert_eq!(names[..2], ["session:fork", "session:start"]);
}

async fn resuming_a_child_announces_no_fork(world: World) {
    let model = Scripted::new(vec![]);
    let root = world.root(&model);
    root.execute("go").await.unwrap();
    let child = root.fork(Fork::of(root.id())).await.unwrap().child;
    child.execute("another way").await.unwrap();

    let later = World::over(world.kernel.engine().clone());
    let again = later.kernel.open(&child.id(), equipment(&model)).await.unwrap();
    again.execute("and on").await.unwrap();
    assert_eq!(later.ears.names(None), turn("session:resume"));
}

async fn every_event_of_a_child_names_its_parent(world: World) {
    let model = Scripted::new(vec![]);
    let root = world.root(&model);
    root.execute("go").await.unwrap();
    let child = root.fork(Fork::of(root.id())).await.unwrap().child;
    child.execute("another way").await.unwrap();
    let grandchild = child.fork(Fork::of(child.id())).await.unwrap().child;
    grandchild.execute("a third").await.unwrap();
    let parent_of = |id: &SessionId| {
        if *id == root.id() {
            None
        } else if *id == child.id() {
            Some(root.id())
        } else {
            Some(child.id())
        }
    };
    for notification in world.ears.all() {
        assert_eq!(notification.parent_id, parent_of(&notification.session_id), "{notification:?}");
        assert_eq!(notification.root_id, root.id());
    }
}

async fn the_end_comes_once_and_last(world: World) {
    let model = Scripted::new(vec![]);
    let root = world.root(&model);
    root.execute("go").await.unwrap();
    root.cleanup(false).await;
    root.cleanup(false).await;
    let names = world.ears.names(None);
    assert_eq!(names.last().unwrap(), "session:end");
    assert_eq!(names.iter().filter(|name| *name == "session:end").count(), 1);
    let error = root.execute("more").await.unwrap_err();
    assert!(matches!(error, Error::Ended(_)), "{error}");
}

async fn nested_children_end_leaves_first(world: World) {
    let model = Scripted::new(vec![]);
    let a = world.root(&model);
    a.execute("go").await.unwrap();
    let b = a.fork(Fork::of(a.id())).await.unwrap().child;
    b.execute("go").await.unwrap();
    let c = b.fork(Fork::of(b.id())).await.unwrap().child;
    c.execute("go").await.unwrap();
    let sidecar = a.fork(Fork::of(a.id())).await.unwrap().child;
    sidecar.execute("go").await.unwrap();
    let stranger = world.root(&model);
    stranger.execute("go").await.unwrap();

    a.cleanup(true).await;
    let ended: Vec<_> =
        world.ears.of(Name::SessionEnd).iter().map(|t| t.session_id.clone()).collect();
    let location = |id: SessionId| ended.iter().position(|ended| *ended == id);
    assert_eq!(ended.len(), 4);
    assert!(location(c.id()) < location(b.id()) && location(b.id()) < location(a.id()));
    assert!(location(sidecar.id()) < location(a.id()));
    assert_eq!(location(stranger.id()), None);
}

async fn an_unknown_session_is_never_a_new_one(world: World) {
    let model = Scripted::new(vec![says("hi")]);
    let missing: SessionId = "missing".parse().unwrap();
    let error = world.kernel.open(&missing, equipment(&model)).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(world.kernel.engine().show(&missing).is_err());
}

/// A hook that decides about a fork: it notifies `begun`, and allows the fork only when the test
/// notifies `go_on`.
#[derive(Default)]
struct Gate {
    begun: Notify,
    go_on: Notify,
}

impl Hook for Gate {
    fn name(&self) -> &str {
        "gate"
    }

    fn fork<'a>(&'a self, _: Moment<'a, ForkInput<'a>>) -> Decision<'a> {
        async {
            self.begun.notify_one();
            self.go_on.notified().await;
            Ok(Verdict::Continue)
        }
        .boxed()
    }
}

/// Returns the sessions that ended, in order, with the status of each.
fn ended(world: &World) -> Vec<(SessionId, String)> {
    let status = |it: &Notification| data(it)["status"].as_str().unwrap().to_owned();
    let ends = world.ears.of(Name::SessionEnd);
    ends.iter().map(|it| (it.session_id.clone(), status(it))).collect()
}

async fn a_grandchild_ends_although_the_handle_of_its_parent_is_gone(world: World) {
    let model = Scripted::new(vec![]);
    let a = world.root(&model);
    a.execute("go").await.unwrap();
    let b = a.fork(Fork::of(a.id())).await.unwrap().child;
    let c = b.fork(Fork::of(b.id())).await.unwrap().child;
    c.execute("go").await.unwrap();
    drop(b);
    a.cleanup(true).await;
    let done = |it: &AgentSession| (it.id(), "completed".to_owned());
    assert_eq!(ended(&world), [done(&c), done(&a)]);
    assert!(matches!(c.execute("more").await.unwrap_err(), Error::Ended(_)));
}

async fn a_fork_made_without_the_kernel_ends_too(world: World) {
    let model = Scripted::new(vec![]);
    let a = world.root(&model);
    a.execute("go").await.unwrap();
    let engine = world.kernel.engine();
    let b = engine.fork(&Fork::of(a.id())).unwrap().child_session_id;
    let c = engine.fork(&Fork::of(b)).unwrap().child_session_id;
    let c = world.kernel.open(&c, equipment(&model)).await.unwrap();
    c.execute("go").await.unwrap();
    let planned = NewSession { parent_id: Some(c.id()), ..new_session() };
    let planned = world.kernel.create(planned, equipment(&model));
    let stranger = world.root(&model);
    a.cleanup(true).await;
    let done = |it: &AgentSession| (it.id(), "completed".to_owned());
    assert_eq!(ended(&world), [done(&c), done(&a)]);
    assert!(matches!(planned.execute("go").await.unwrap_err(), Error::Ended(_)));
    stranger.execute("go").await.unwrap();
}

async fn a_fork_that_is_being_made_does_not_outlive_its_parent(world: World) {
    let gate = Arc::new(Gate::default());
    let kernel = Kernel::builder(world.kernel.engine().clone()).hook(gate.clone()).build();
    let a = kernel.create(new_session(), equipment(&Scripted::new(vec![])));
    a.execute("go").await.unwrap();
    let forking = a.clone();
    let forking = tokio::spawn(async move { forking.fork(Fork::of(forking.id())).await });
    gate.begun.notified().await;
    a.cleanup(true).await;
    gate.go_on.notify_one();
    let child = forking.await.unwrap().unwrap().child;
    assert!(matches!(child.execute("go").await.unwrap_err(), Error::Ended(_)));
}

async fn the_end_says_how_the_last_turn_ended(world: World) {
    let fails = vec![Act::Fail(ModelErrorKind::Key)];
    let root = world.root(&Scripted::new(vec![says("one"), fails]));
    root.execute("go").await.unwrap();
    root.execute("fail").await.unwrap_err();
    root.cleanup(true).await;
    let hangs = world.root(&Scripted::new(vec![vec![Act::Hang]]));
    let running = hangs.clone();
    let turn = tokio::spawn(async move { running.execute("go").await });
    while world.ears.of(Name::ProviderRequest).len() < 3 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    hangs.cleanup(true).await;
    turn.await.unwrap().unwrap();
    // A session without a turn in this process has no end to announce.
    world.kernel.open(&root.id(), root.equipment()).await.unwrap().cleanup(true).await;
    let (root, hangs) = (root.id(), hangs.id());
    assert_eq!(
        ended(&world),
        [(root, "failed".to_owned()), (hangs.clone(), "cancelled".to_owned())]
    );
    let names = world.ears.names(Some(&hangs));
    assert!(!names.contains(&"prompt:complete".to_owned()), "an interrupted turn answers nothing");
}

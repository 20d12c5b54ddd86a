//! Tests that sessions are created, started, resumed, forked and ended, and that each step is
//! announced once and in order.

use forklore_agent::notify::Name;
use forklore_agent::{Error, NewSession};
use forklore_core::{ErrorKind, SessionId};
use forklore_engine::Fork;
use serde_json::json;

use crate::scripted::{Scripted, says};
use crate::world::{World, equipment, new_session};

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

#[tokio::test]
async fn start_and_resume_come_once_over_many_turns() {
    let world = World::new();
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

#[tokio::test]
async fn a_child_is_announced_once_when_it_is_durable() {
    let world = World::new();
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

#[tokio::test]
async fn resuming_a_child_announces_no_fork() {
    let world = World::new();
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

#[tokio::test]
async fn every_event_of_a_child_names_its_parent() {
    let world = World::new();
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

#[tokio::test]
async fn the_end_comes_once_and_last() {
    let world = World::new();
    let model = Scripted::new(vec![]);
    let root = world.root(&model);
    root.execute("go").await.unwrap();
    root.cleanup(false).await;
    root.cleanup(false).await;
    let names = world.ears.names(None);
    assert_eq!(names.last(), Some(&"session:end"));
    assert_eq!(names.iter().filter(|name| **name == "session:end").count(), 1);
    let error = root.execute("more").await.unwrap_err();
    assert!(matches!(error, Error::Ended(_)), "{error}");
}

#[tokio::test]
async fn nested_children_end_leaves_first() {
    let world = World::new();
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

#[tokio::test]
async fn an_unknown_session_is_never_a_new_one() {
    let world = World::new();
    let model = Scripted::new(vec![says("hi")]);
    let missing: SessionId = "missing".parse().unwrap();
    let error = world.kernel.open(&missing, equipment(&model)).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(world.kernel.engine().show(&missing).is_err());
}

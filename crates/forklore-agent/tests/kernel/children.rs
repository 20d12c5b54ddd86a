//! Tests of sessions that do not exist yet: their ids, and whose ids the events have while hooks
//! decide about them.

use std::sync::Arc;

use forklore_agent::approve::{Answer, Approve, Question};
use forklore_agent::hook::{Decision, ForkInput, Hook, HookFailed, Moment, SessionInput, Verdict};
use forklore_agent::notify::{Identity, Name, Notification};
use forklore_agent::{AgentSession, Delegate, Kernel, NewSession};
use forklore_core::SessionId;
use forklore_engine::{Engine, Fork};
use forklore_store::memory::MemoryStore;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::scripted::Scripted;
use crate::world::{Ears, World, data, equipment, new_session};

/// A hook that fails when a child is initialized, and lets a person decide whether it is created.
struct AboutChildren;

impl Hook for AboutChildren {
    fn name(&self) -> &str {
        "about children"
    }

    fn session<'a>(&'a self, moment: Moment<'a, SessionInput<'a>>) -> Decision<'a> {
        let is_child = moment.session.parent_id.is_some();
        async move {
            if is_child { Err(HookFailed("no disk".into())) } else { Ok(Verdict::Continue) }
        }
        .boxed()
    }

    fn fork<'a>(&'a self, moment: Moment<'a, ForkInput<'a>>) -> Decision<'a> {
        let question = format!("May {} begin?", moment.session.session_id);
        async { Ok(Verdict::Ask(question)) }.boxed()
    }
}

/// A person who grants or denies everything.
struct Person(bool);

impl Approve for Person {
    fn approve<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        let answer = if self.0 { Answer::Granted(None) } else { Answer::Denied(None) };
        async { answer }.boxed()
    }
}

fn world() -> World {
    let ears = Arc::new(Ears::default());
    let engine = Engine::new(Arc::new(MemoryStore::default()));
    let builder = Kernel::builder(engine).sink(ears.clone()).hook(Arc::new(AboutChildren));
    World { kernel: builder.build(), ears }
}

fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

/// Returns the ids of the session of an event.
fn ids(notification: &Notification) -> Identity {
    let Notification { session_id, parent_id, root_id, .. } = notification.clone();
    Identity { session_id, parent_id, root_id }
}

/// Returns what the hook and the person reported about children, with the ids of each event.
fn reported(world: &World) -> Vec<(&'static str, Identity)> {
    let names = [
        (Name::HookError, "failed"),
        (Name::ApprovalRequired, "asked"),
        (Name::ApprovalGranted, "granted"),
        (Name::ApprovalDenied, "denied"),
    ];
    let all = world.ears.all();
    let named = all.iter().filter_map(|notification| {
        let (_, text) = names.iter().find(|(name, _)| notification.is(*name))?;
        Some((*text, ids(notification)))
    });
    named.collect()
}

/// Creates a root and its branch `parent`, in which a person grants or denies everything.
async fn parent(world: &World, grants: bool) -> AgentSession {
    let model = Scripted::new(vec![]);
    let root = world
        .kernel
        .create(NewSession { id: Some(id("root")), ..new_session() }, equipment(&model));
    root.execute("go").await.unwrap();
    root.equip(|equipment| equipment.approve = Arc::new(Person(true)));
    let fork = Fork { id: Some(id("parent")), ..Fork::of(root.id()) };
    let parent = root.fork(fork).await.unwrap().child;
    parent.equip(|equipment| equipment.approve = Arc::new(Person(grants)));
    parent
}

fn parent_ids() -> Identity {
    Identity { session_id: id("parent"), parent_id: Some(id("root")), root_id: id("root") }
}

#[tokio::test]
async fn what_hooks_report_about_a_child_has_the_ids_of_its_parent() {
    for grants in [false, true] {
        let world = world();
        let parent = parent(&world, grants).await;
        let before = reported(&world).len();
        let answered = if grants { "granted" } else { "denied" };
        let by_parent = |texts: &[&'static str]| {
            texts.iter().map(|text| (*text, parent_ids())).collect::<Vec<_>>()
        };
        // A fork is asked about before it is initialized, and a delegate after.
        let fork = Fork { id: Some(id("never")), ..Fork::of(parent.id()) };
        assert_eq!(parent.fork(fork).await.is_ok(), grants);
        let mut expected = by_parent(&["asked", answered]);
        if grants {
            expected.extend(by_parent(&["failed"]));
        }
        assert_eq!(reported(&world)[before..], expected);

        let before = reported(&world).len();
        let delegate = Delegate { id: Some(id("sub")), ..Delegate::new("your part") };
        assert_eq!(parent.delegate(delegate).await.is_ok(), grants);
        let expected = by_parent(&["failed", "asked", answered]);
        assert_eq!(reported(&world)[before..], expected);

        let before = reported(&world).len();
        let new =
            NewSession { id: Some(id("planned")), parent_id: Some(parent.id()), ..new_session() };
        let child = world.kernel.create(new, parent.equipment());
        assert_eq!(child.initialize().await.is_ok(), grants);
        assert_eq!(reported(&world)[before..], expected);
        // The question names the parent too.
        let questions = world.ears.of(Name::ApprovalRequired);
        let sessions: Vec<_> = questions.iter().map(|it| data(it)["session"].clone()).collect();
        assert_eq!(sessions, ["root", "parent", "parent", "parent"]);
        let prompts: Vec<_> = questions.iter().map(|it| data(it)["prompt"].clone()).collect();
        let names = ["parent", "never", "sub", "planned"];
        assert_eq!(prompts, names.map(|name| format!("May {name} begin?")));
    }
}

#[tokio::test]
async fn a_session_that_does_not_exist_yet_names_the_root_of_its_family() {
    let world = World::new();
    let model = Scripted::new(vec![]);
    let new = |name: &str, parent: Option<&str>| {
        let (id, parent_id) = (Some(id(name)), parent.map(id));
        world.kernel.create(NewSession { id, parent_id, ..new_session() }, equipment(&model))
    };
    let expected = |name: &str, parent: Option<&str>, root: &str| Identity {
        session_id: id(name),
        parent_id: parent.map(id),
        root_id: id(root),
    };
    let root = new("root", None);
    assert_eq!(root.identity(), expected("root", None, "root"));
    // The parents are open and do not exist in the store.
    let child = new("child", Some("root"));
    let grandchild = new("grandchild", Some("child"));
    assert_eq!(child.identity(), expected("child", Some("root"), "root"));
    assert_eq!(grandchild.identity(), expected("grandchild", Some("child"), "root"));
    for session in [&root, &child, &grandchild] {
        let before = session.identity();
        session.initialize().await.unwrap();
        assert_eq!(session.identity(), before);
    }
    // The parents exist in the store and are not open.
    drop((root, child, grandchild));
    let latest = new("latest", Some("grandchild"));
    assert_eq!(latest.identity(), expected("latest", Some("grandchild"), "root"));
    // The parent is unknown, so the child cannot begin.
    let lost = new("lost", Some("nobody"));
    assert_eq!(lost.identity(), expected("lost", Some("nobody"), "nobody"));
    assert!(lost.initialize().await.is_err());
}

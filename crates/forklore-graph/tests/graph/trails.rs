//! The rules of the Trails profile: forks are at most 32 levels deep, principals are DIDs, and a
//! session cannot be deleted before its children are detached. A fork at an index inherits the
//! conversation events before the index.

use std::path::Path;
use std::sync::Arc;

use forklore_core::workspace::Workspace;
use forklore_core::{ErrorKind, Selector, SessionKind, Strategy};
use forklore_engine::{Create, Delete, DeleteMode, Engine, Fork};
use forklore_graph::{GraphStore, Profile};

use crate::family::{assistant, clocked, id, user};

fn open(folder: &Path) -> (Arc<GraphStore>, Engine) {
    let store = GraphStore::open(&folder.join("store"), Some(Profile::Trails), &[]).unwrap();
    let store = Arc::new(store);
    let engine = Engine::new(store.clone()).with_max_fork_depth(store.max_fork_depth());
    (store, clocked(engine))
}

fn root(engine: &Engine, principal: Option<&str>) -> forklore_engine::Result<()> {
    let mut create = Create::in_workspace(Workspace::new("/home/ann/demo"));
    create.id = Some(id("s0"));
    create.principal = principal.map(Into::into);
    engine.create(&create).map(drop)
}

fn fork(engine: &Engine, parent: &str, at: Selector, child: &str) -> forklore_engine::Result<()> {
    let mut fork = Fork::of(id(parent)).at(at);
    fork.id = Some(id(child));
    engine.fork(&fork).map(drop)
}

#[test]
fn thirty_two_links_work_and_the_thirty_third_is_refused_until_one_is_detached() {
    let folder = tempfile::tempdir().unwrap();
    let (_, engine) = open(folder.path());
    root(&engine, None).unwrap();
    user(&engine, "s0", "q");
    for link in 1..=32 {
        fork(&engine, &format!("s{}", link - 1), Selector::End, &format!("s{link}")).unwrap();
    }
    let refused = fork(&engine, "s32", Selector::End, "s33").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(refused.to_string().contains("32"), "{refused}");
    engine.detach(&id("s32")).unwrap();
    fork(&engine, "s32", Selector::End, "s33").unwrap();
}

#[test]
fn what_needs_no_ancestor_is_never_too_deep() {
    let folder = tempfile::tempdir().unwrap();
    let (store, engine) = open(folder.path());
    root(&engine, None).unwrap();
    user(&engine, "s0", "q");
    for link in 1..=32 {
        fork(&engine, &format!("s{}", link - 1), Selector::End, &format!("s{link}")).unwrap();
    }
    let below = |name: &str, kind: SessionKind, strategy: Strategy| Fork {
        id: Some(id(name)),
        kind,
        strategy,
        ..Fork::of(id("s32"))
    };
    engine.fork(&below("sub", SessionKind::Delegate, Strategy::ShareV1)).unwrap();
    engine.fork(&below("copy", SessionKind::Branch, Strategy::ReplayV1)).unwrap();
    // The depth of a fork counts from such a session, because it needs no ancestor.
    fork(&engine, "copy", Selector::End, "of-copy").unwrap();
    fork(&engine, "sub", Selector::Start, "of-sub").unwrap();
    // The store itself refuses what an engine without the limit would make.
    let unlimited = Engine::new(store.clone());
    let refused = fork(&unlimited, "s32", Selector::End, "s33").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgs);
    assert!(refused.to_string().contains("at most 32 deep"), "{refused}");
    assert_eq!(unlimited.show(&id("s33")).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_fork_owns_the_turns_from_its_index_on() {
    let folder = tempfile::tempdir().unwrap();
    let (_, engine) = open(folder.path());
    root(&engine, None).unwrap();
    for at in 0..3 {
        user(&engine, "s0", &format!("q{at}"));
        assistant(&engine, "s0", &format!("a{at}"));
    }
    fork(&engine, "s0", Selector::Index(2), "s1").unwrap();
    user(&engine, "s1", "another");
    let header = engine.show(&id("s1")).unwrap();
    assert_eq!(header.cut.unwrap().index, 2);
    let messages: Vec<_> = engine.replay(&id("s1"), None).unwrap().map(Result::unwrap).collect();
    let branches: Vec<_> =
        messages.iter().map(|record| (record.index, record.origin.session_id.as_str())).collect();
    assert_eq!(branches, [(0, "s0"), (1, "s0"), (2, "s1")]);
}

#[test]
fn a_principal_is_a_did() {
    let folder = tempfile::tempdir().unwrap();
    let (_, engine) = open(folder.path());
    assert_eq!(root(&engine, Some("ann")).unwrap_err().kind(), ErrorKind::InvalidArgs);
    root(&engine, Some("did:web:ann.example")).unwrap();
    user(&engine, "s0", "q");
    let mut other = Fork::of(id("s0"));
    other.principal = Some("bo".into());
    assert_eq!(engine.fork(&other).unwrap_err().kind(), ErrorKind::InvalidArgs);
}

#[test]
fn a_parent_goes_only_after_its_children_were_detached() {
    let folder = tempfile::tempdir().unwrap();
    let (_, engine) = open(folder.path());
    root(&engine, None).unwrap();
    user(&engine, "s0", "q");
    fork(&engine, "s0", Selector::End, "s1").unwrap();
    for mode in [DeleteMode::Refuse, DeleteMode::DetachChildren] {
        let delete = Delete { session: id("s0"), mode, dry_run: false, erase: true };
        assert_eq!(engine.delete(&delete).unwrap_err().kind(), ErrorKind::HasChildren);
    }
    engine.detach(&id("s1")).unwrap();
    let delete =
        Delete { session: id("s0"), mode: DeleteMode::Refuse, dry_run: false, erase: true };
    engine.delete(&delete).unwrap();
    assert_eq!(engine.replay(&id("s1"), None).unwrap().count(), 1);
}

#[test]
fn the_profile_is_the_stores_for_good() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    let path = folder.path().join("store");
    let again = GraphStore::open(&path, None, &[]).unwrap();
    assert_eq!((again.profile(), again.max_fork_depth()), (Profile::Trails, Some(32)));
    let other = GraphStore::open(&path, Some(Profile::Plain), &[]).unwrap_err();
    assert_eq!(other.kind(), ErrorKind::Unsupported);
    let foreign = folder.path().join("foreign");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join("notes.txt"), "mine").unwrap();
    let refused = GraphStore::open(&foreign, None, &[]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert_eq!(std::fs::read_dir(&foreign).unwrap().count(), 1);
    std::fs::write(path.join("graph.json"), "{\"forklore\":\"gr").unwrap();
    assert_eq!(GraphStore::open(&path, None, &[]).unwrap_err().kind(), ErrorKind::Corrupt);
}

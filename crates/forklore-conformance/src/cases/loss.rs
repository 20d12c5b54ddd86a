//! Cases: the header of a session is lost. Sessions that do not need that session lose nothing. A
//! read of any other session returns its complete history or an error.

use forklore_core::header::Strategy;
use forklore_core::{Data, Header, Label, SessionKind};
use serde_json::json;

use crate::events::{turns, user};
use crate::scene::{LONG, Scene, forward, id, refused};
use forklore_store::Error;
use forklore_store::port::{At, Change, Children, Filter, LogEntry, NewSession, Removed};

/// Describes a child whose `session_fork` event states the child's lineage, as in a fork by the
/// engine.
fn child(scene: &Scene<'_>, parent: &str, child: &str, inheritable: u64) -> NewSession {
    let tail = vec![user(&format!("{child} asks"))];
    let mut new = scene.child_draft(parent, child, inheritable, Strategy::ShareV1, tail);
    let fork = json!({
        "kind": "branch",
        "parent_session_id": parent,
        "root_session_id": scene.header(parent).root_id,
        "event_count": inheritable,
    });
    new.events[0].data = Data::of(&fork).unwrap();
    new
}

fn fork(scene: &Scene<'_>, parent: &str, name: &str, inheritable: u64) -> Header {
    scene.store().create(child(scene, parent, name, inheritable)).unwrap()
}

fn copy(scene: &Scene<'_>, parent: &str, name: &str, inheritable: u64) -> Header {
    let mut new = child(scene, parent, name, inheritable);
    new.from.as_mut().unwrap().strategy = Strategy::ReplayV1;
    scene.store().create(new).unwrap()
}

fn delegate(scene: &Scene<'_>, parent: &str, name: &str, inheritable: u64) -> Header {
    let new = child(scene, parent, name, inheritable);
    scene.store().create(NewSession { kind: SessionKind::Delegate, ..new }).unwrap()
}

fn lose(scene: &Scene<'_>, session: &str) {
    scene.test_store().lose(&id(session));
    let error = scene.store().header(&id(session)).unwrap_err();
    assert!(matches!(error, Error::NotFound(_) | Error::Lost { .. }), "{error:?}");
}

fn read(scene: &Scene<'_>, session: &str) -> Result<Vec<LogEntry>, Error> {
    Ok(scene.store().read(&id(session), &forward(At::Seq(0), 1000, false))?.events)
}

pub(super) fn children_that_need_no_ancestor_lose_nothing(scene: &mut Scene<'_>) {
    scene.root("top", turns(1));
    fork(scene, "top", "a", 2);
    scene.append("a", turns(1));
    let names = ["copied", "detached", "sub", "empty"];
    copy(scene, "a", "copied", 4);
    fork(scene, "a", "detached", 5);
    scene.detach("detached");
    delegate(scene, "a", "sub", 3);
    fork(scene, "a", "empty", 0);
    let before = names.map(|name| (scene.header(name), scene.log(name)));
    lose(scene, "a");
    assert_eq!(names.map(|name| (scene.header(name), scene.log(name))), before);
    if scene.store().capabilities().durable {
        scene.reopen();
        assert_eq!(names.map(|name| (scene.header(name), scene.log(name))), before);
    }
    for name in names {
        let appended = scene.append(name, vec![user("on")]);
        scene.change(name, &Change::Label(format!("{name}-2").parse::<Label>().unwrap()));
        scene.hold(name, "runtime", LONG).unwrap();
        scene.change(name, &Change::Release { owner: "runtime".into() });
        let all = scene.header(name).counts.inheritable;
        let below = format!("{name}-child");
        fork(scene, name, &below, all);
        assert_eq!(scene.log(&below).len() as u64, all + 2, "{name}");
        assert_eq!(i64::try_from(appended.to_seq).unwrap(), scene.header(name).head_seq());
    }
}

pub(super) fn a_lost_parent_never_makes_a_shorter_history(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    fork(scene, "a", "b", 4);
    fork(scene, "b", "c", 5);
    let names = ["b", "c"];
    let before = names.map(|name| (scene.header(name), scene.log(name)));
    lose(scene, "a");
    for (name, (header, log)) in names.into_iter().zip(before) {
        assert_eq!(scene.header(name), header);
        scene.append(name, vec![user("on")]);
        let all = scene.header(name).counts.inheritable;
        // If the lost session's events still exist, the history is complete. Otherwise, every read
        // and every fork of the history fails.
        let below = child(scene, name, &format!("{name}-child"), all);
        match read(scene, name) {
            Ok(found) => {
                assert_eq!(found[..log.len()], log, "{name}");
                let made = scene.store().create(below).unwrap();
                assert_eq!(scene.log(made.id.as_str()).len() as u64, all + 2);
            }
            Err(error) => {
                assert!(matches!(error, Error::MissingAncestor { .. }), "{error:?}");
                let refused = scene.store().create(below).unwrap_err();
                assert!(matches!(refused, Error::MissingAncestor { .. }), "{refused:?}");
            }
        }
    }
}

pub(super) fn a_lost_root_and_parent_still_have_their_family(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    fork(scene, "a", "b", 2);
    delegate(scene, "a", "c", 1);
    fork(scene, "b", "d", 3);
    scene.root("other", turns(1));
    lose(scene, "a");
    let listed = |filter: &Filter| {
        let found = scene.store().sessions(filter, None, 0).unwrap();
        assert_eq!(format!("{:?}", found.damaged), "[]");
        let mut names: Vec<_> =
            found.sound.into_iter().map(|header| header.id.to_string()).collect();
        names.sort();
        names
    };
    let family = Filter { family: Some(id("a")), ..Filter::default() };
    let children = Filter { parent: Some(id("a")), ..Filter::default() };
    assert_eq!(listed(&family), ["b", "c", "d"]);
    assert_eq!(listed(&children), ["b", "c"]);
    assert_eq!(listed(&Filter::default()), ["b", "c", "d", "other"]);
    lose(scene, "b");
    let children = Filter { parent: Some(id("b")), ..Filter::default() };
    assert_eq!(
        (listed(&family), listed(&children)),
        (vec!["c".into(), "d".into()], vec!["d".into()])
    );
}

pub(super) fn a_deleted_child_of_a_lost_root_stays_deleted(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    fork(scene, "a", "b", 2);
    fork(scene, "b", "c", 3);
    scene.remove(&["c", "b"], Children::Refuse).unwrap();
    scene.collect();
    lose(scene, "a");
    for name in ["b", "c"] {
        // A store that has the ancestors' ids only in their own rows cannot answer with the rest
        // of the header.
        match scene.store().header(&id(name)) {
            Ok(header) => assert!(header.deleted.is_some(), "{name}"),
            error => refused(error, &Error::Deleted(id(name))),
        }
        refused(read(scene, name), &Error::Deleted(id(name)));
        let append = scene.appending(vec![user("on")]);
        refused(scene.store().append(&id(name), append), &Error::Deleted(id(name)));
        refused(scene.store().verify(Some(&id(name))), &Error::Deleted(id(name)));
        let removed = scene.remove(&[name], Children::Refuse).unwrap();
        assert_eq!(removed, Removed::default());
    }
}

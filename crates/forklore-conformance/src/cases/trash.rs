//! Cases: the history of a session in the trash cannot be read, but nothing of it is lost, and the
//! session can be brought back complete.

use forklore_core::{Data, Header, Tombstone};
use forklore_store::error::Error;
use forklore_store::port::{
    Append, At, Change, Children, Deletion, Filter, NewSession, Removed, Since, Write,
};

use super::following::Follower;
use crate::events::{rich, turns, user};
use crate::scene::{LONG, Scene, forward, id, label, refused};

const ALL: At = At::Seq(0);

fn removed(sessions: &[&str]) -> Removed {
    let deleted = sessions.iter().map(|session| id(session)).collect();
    Removed { deleted, retained_segments: 0 }
}

fn put(scene: &Scene<'_>, session: &str) {
    assert_eq!(scene.trash(&[session], Children::Retain).unwrap(), removed(&[session]));
}

fn expire(scene: &Scene<'_>, sessions: &[&str], deletion: Deletion) -> Removed {
    let ids: Vec<_> = sessions.iter().map(|session| id(session)).collect();
    scene.store().delete(&ids, Children::Retain, deletion, scene.clock.now()).unwrap()
}

/// Creates a child of `a` whose header has everything that an erasure removes.
fn noted(scene: &Scene<'_>) -> Header {
    let leaf = Change::Leaf(Some(id("a")));
    let new = NewSession {
        title: Some("a title".into()),
        metadata: Some(Data::parse(r#"{"of":"metadata"}"#).unwrap()),
        config: Some(Data::parse(r#"{"of":"config"}"#).unwrap()),
        ..scene.child_draft("a", "b", 3, Default::default(), rich())
    };
    scene.store().create(new).unwrap();
    scene.change("b", &leaf).header
}

pub(super) fn what_is_in_the_trash_answers_nothing(scene: &Scene<'_>) {
    scene.root("a", rich());
    scene.fork("a", "b", 5, turns(1));
    let (living, log, of_child) = (scene.header("a"), scene.log("a"), scene.log("b"));
    let now = scene.clock.now();
    scene.store().delete(&[id("a")], Children::Retain, Deletion::Trash, now).unwrap();
    let tombstone = Tombstone { deleted: now, restorable: true };
    assert_eq!(scene.header("a"), Header { deleted: Some(tombstone), ..living });
    let deleted = Error::Deleted(id("a"));
    for at in [At::Seq(0), At::Inheritable(1), At::Index(0), At::Turn(1)] {
        refused(scene.store().read(&id("a"), &forward(at, 5, true)), &deleted);
    }
    refused(scene.store().change(&id("a"), &Change::Label(label("x"))), &deleted);
    refused(scene.store().change(&id("a"), &Change::Title(None)), &deleted);
    refused(scene.store().change(&id("a"), &Change::Detach), &deleted);
    refused(scene.hold("a", "run", LONG), &deleted);
    refused(scene.store().append(&id("a"), scene.appending(turns(1))), &deleted);
    refused(scene.store().verify(Some(&id("a"))), &deleted);
    let child = scene.child_draft("a", "c", 0, Default::default(), vec![]);
    refused(scene.store().create(child), &deleted);
    refused(scene.store().create(scene.draft("A", vec![])), &Error::IdInUse(id("A")));
    assert_eq!(scene.log("b"), of_child);
    let read = scene.store().read_in_trash(&id("a"), &forward(ALL, 1000, false)).unwrap();
    assert_eq!(read.events, log);
    scene.assert_sound();
}

pub(super) fn it_comes_back_as_it_was(scene: &Scene<'_>) {
    scene.root("a", rich());
    let (header, log) = (noted(scene), scene.log("b"));
    put(scene, "b");
    scene.pack();
    scene.collect();
    assert_eq!(scene.undelete("b", "b").unwrap().header, header);
    assert_eq!((scene.header("b"), scene.log("b")), (header, log));
    scene.append("b", turns(1));
    scene.fork("b", "c", 4, turns(1));
    scene.assert_sound();
}

pub(super) fn a_label_in_use_refuses_it(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 2, turns(1));
    put(scene, "b");
    let new = scene.child_draft("a", "c", 1, Default::default(), vec![]);
    scene.store().create(NewSession { label: label("b"), ..new }).unwrap();
    let in_use = Error::LabelInUse { label: label("b"), by: id("c") };
    refused(scene.undelete("b", "b"), &in_use);
    assert!(scene.header("b").is_in_trash());
    let back = scene.undelete("b", "other").unwrap().header;
    assert_eq!((back.label, back.deleted), (label("other"), None));
    assert_eq!(scene.texts("b"), ["session_fork", "q1", "a1", "q1", "a1"]);
    refused(
        scene.store().change(&id("c"), &Change::Label(label("other"))),
        &Error::LabelInUse { label: label("other"), by: id("b") },
    );
}

pub(super) fn a_child_comes_back_without_its_parent(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 3, turns(1));
    let (header, log) = (scene.header("b"), scene.log("b"));
    scene.trash(&["b", "a"], Children::Refuse).unwrap();
    scene.undelete("b", "b").unwrap();
    assert_eq!((scene.header("b"), scene.log("b")), (header, log.clone()));
    assert!(scene.header("a").is_in_trash());
    expire(scene, &["a"], Deletion::Erase);
    scene.collect();
    assert_eq!(scene.log("b"), log);
    scene.assert_sound();
}

pub(super) fn it_retains_what_it_inherits(scene: &Scene<'_>) {
    super::read::three_generations(scene);
    let (b, c) = (scene.log("b"), scene.log("c"));
    scene.trash(&["c", "b"], Children::Refuse).unwrap();
    let erased = expire(scene, &["a"], Deletion::Erase);
    assert_eq!(erased, Removed { deleted: vec![id("a")], retained_segments: 1 });
    scene.collect();
    scene.assert_sound();
    scene.undelete("c", "c").unwrap();
    assert_eq!(scene.log("c"), c);
    scene.undelete("b", "b").unwrap();
    assert_eq!(scene.log("b"), b);
    scene.assert_sound();
}

pub(super) fn copies_and_detached_sessions_come_back(scene: &Scene<'_>) {
    scene.root("a", rich());
    scene.copy("a", "copied", 5, turns(1));
    scene.fork("a", "detached", 5, turns(1));
    scene.detach("detached");
    scene.delegate("a", "delegate", 5, turns(1));
    let sessions = ["copied", "detached", "delegate"];
    let before = sessions.map(|session| (scene.header(session), scene.log(session)));
    scene.trash(&sessions, Children::Refuse).unwrap();
    expire(scene, &["a"], Deletion::Erase);
    scene.collect();
    for session in sessions {
        scene.undelete(session, session).unwrap();
    }
    assert_eq!(sessions.map(|session| (scene.header(session), scene.log(session))), before);
    scene.assert_sound();
}

pub(super) fn it_can_be_erased(scene: &Scene<'_>) {
    scene.root("a", rich());
    noted(scene);
    scene.fork("b", "c", 4, vec![]);
    let log = scene.log("c");
    put(scene, "b");
    let trashed = scene.header("b");
    let erased = expire(scene, &["b"], Deletion::Erase);
    assert_eq!(erased, Removed { deleted: vec![id("b")], retained_segments: 1 });
    let stone = scene.header("b");
    let tombstone = trashed.deleted.map(|it| Tombstone { restorable: false, ..it });
    assert_eq!(stone.deleted, tombstone, "the time is that of the delete");
    assert_eq!((stone.title, stone.metadata, stone.config, stone.leaf), (None, None, None, None));
    let deleted = Error::Deleted(id("b"));
    refused(scene.undelete("b", "b"), &deleted);
    refused(scene.store().read_in_trash(&id("b"), &forward(ALL, 1, true)), &deleted);
    scene.collect();
    assert_eq!(scene.log("c"), log);
    scene.assert_sound();
}

pub(super) fn only_what_is_old_enough_expires(scene: &Scene<'_>) {
    for session in ["old", "new", "living"] {
        scene.root(session, turns(1));
    }
    put(scene, "old");
    let last = scene.header("old").deleted.unwrap().deleted;
    scene.clock.now();
    put(scene, "new");
    scene.hold("living", "run", LONG).unwrap();
    let all = ["living", "old", "new"];
    assert_eq!(expire(scene, &all, Deletion::Expire(last)), removed(&["old"]));
    assert!(scene.header("old").is_erased());
    assert!(scene.header("new").is_in_trash());
    assert_eq!(scene.texts("living"), ["q1", "a1"]);
    assert_eq!(expire(scene, &all, Deletion::Expire(last)), removed(&[]));
    refused(
        scene.store().delete(&[id("no")], Children::Retain, Deletion::Expire(last), last),
        &Error::NotFound(id("no")),
    );
}

pub(super) fn doing_it_again_is_harmless(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 1, vec![]);
    put(scene, "b");
    let trashed = scene.header("b");
    assert_eq!(scene.trash(&["b", "a", "a"], Children::Refuse).unwrap(), removed(&["a"]));
    assert_eq!(scene.header("b"), trashed);
    scene.undelete("b", "b").unwrap();
    let back = scene.header("b");
    assert_eq!(scene.undelete("b", "other").unwrap().header, back);
    assert_eq!(scene.header("b"), back);
    refused(scene.undelete("no", "b"), &Error::NotFound(id("no")));
    scene.delete("b");
    assert_eq!(scene.trash(&["b"], Children::Refuse).unwrap(), removed(&[]));
    assert!(scene.header("b").is_erased());
}

pub(super) fn children_and_leases_refuse_it(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 1, vec![]);
    let children = Error::HasChildren { session: id("a"), count: 1, children: vec![id("b")] };
    refused(scene.trash(&["a"], Children::Refuse), &children);
    scene.hold("b", "run1", LONG).unwrap();
    let leased = Error::Leased { session: id("b"), owner: "run1".into() };
    refused(scene.trash(&["b", "a"], Children::Refuse), &leased);
    assert_eq!((scene.header("a").deleted, scene.header("b").deleted), (None, None));
    scene.change("b", &Change::Release { owner: "run1".into() });
    put(scene, "b");
    // A child in the trash does not prevent the deletion of its parent.
    scene.trash(&["a"], Children::Refuse).unwrap();
}

pub(super) fn several_come_back_in_one_step(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 2, turns(1));
    scene.fork("a", "c", 2, vec![user("other")]);
    let before = ["a", "b", "c"].map(|session| (scene.header(session), scene.log(session)));
    scene.trash(&["c", "b", "a"], Children::Refuse).unwrap();
    let undelete = |session: &str, with: &str| Write::Change {
        session: id(session),
        change: Change::Undelete(label(with)),
    };
    let twice = vec![undelete("a", "main"), undelete("b", "b"), undelete("c", "b")];
    let in_use = Error::LabelInUse { label: label("b"), by: id("b") };
    refused(scene.store().commit(twice.into()), &in_use);
    assert!(["a", "b", "c"].iter().all(|session| scene.header(session).is_in_trash()));
    let append = Append { expect: Some(5), ..scene.appending(vec![user("on")]) };
    let all = vec![
        undelete("a", "main"),
        undelete("b", "b"),
        undelete("c", "c"),
        Write::Append { session: id("b"), append },
    ];
    refused(
        scene.store().commit(all.clone().into()),
        &Error::Conflict { session: id("b"), expected: 5, head: 4 },
    );
    scene.store().commit(all[..3].to_vec().into()).unwrap();
    assert_eq!(["a", "b", "c"].map(|session| (scene.header(session), scene.log(session))), before);
    scene.assert_sound();
}

pub(super) fn the_trash_is_listed(scene: &Scene<'_>) {
    for session in ["living", "one", "erased", "two"] {
        scene.root(session, turns(1));
    }
    scene.delete("erased");
    scene.trash(&["one", "two"], Children::Refuse).unwrap();
    let list = |filter: Filter| {
        let found = scene.store().sessions(&filter, None, 0).unwrap().all().unwrap();
        found.into_iter().map(|header| header.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(list(Filter { trash: true, ..Filter::default() }), ["two", "one"]);
    let part = Filter { trash: true, id_part: Some("on".into()), ..Filter::default() };
    assert_eq!(list(part), ["one"]);
    assert_eq!(list(Filter::default()), ["living"]);
    let all = Filter { deleted: true, ..Filter::default() };
    assert_eq!(list(all), ["two", "erased", "one", "living"]);
}

pub(super) fn the_feed_shows_it_removed_and_created(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    let mut reader = Follower::now(scene);
    let mut flags = || {
        assert_eq!(reader.ids(scene, 0), ["a"]);
        (reader.last[0].created, reader.last[0].removed, reader.last[0].head_seq)
    };
    put(scene, "a");
    assert_eq!(flags(), (false, true, 3));
    scene.undelete("a", "main").unwrap();
    assert_eq!(flags(), (true, false, 3));
    put(scene, "a");
    scene.undelete("a", "main").unwrap();
    assert_eq!(flags(), (true, false, 3));
    put(scene, "a");
    expire(scene, &["a"], Deletion::Erase);
    assert!(flags().1);
    assert_eq!(Follower::from(Since::Beginning).ids(scene, 0), <[&str; 0]>::default());
}

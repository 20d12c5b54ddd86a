//! Cases: `gc` frees the space of data that no session needs, and of no other data. `pack` changes
//! no answer of the store.

use crate::events::{Draft, turns, user};
use crate::scene::{Scene, id};
use forklore_store::port::{Children, Deletion};

fn collect(scene: &Scene<'_>) -> forklore_store::port::Collected {
    scene.store().gc().unwrap()
}

fn megabyte() -> Draft {
    user(&"0123456789abcdef".repeat(1 << 16))
}

pub(super) fn gc_changes_no_answer(scene: &Scene<'_>) {
    super::read::three_generations(scene);
    scene.copy("c", "d", 20, turns(1));
    scene.delete("a");
    scene.detach("c");
    let sessions = ["b", "c", "d"];
    let before = sessions.map(|session| (scene.log(session), scene.header(session)));
    let stone = scene.header("a");
    collect(scene);
    assert_eq!(sessions.map(|session| (scene.log(session), scene.header(session))), before);
    assert_eq!(scene.header("a"), stone);
    scene.append("b", turns(1));
    scene.fork("b", "e", 3, vec![]);
    scene.assert_sound();
}

pub(super) fn gc_gives_back_a_deleted_session(scene: &Scene<'_>) {
    scene.root("keep", turns(1));
    scene.root("a", vec![megabyte(), megabyte()]);
    let full = scene.store().store_bytes().unwrap();
    scene.delete("a");
    collect(scene);
    let left = scene.store().store_bytes().unwrap();
    assert!(left + (2 << 20) <= full, "{full} bytes before, {left} after");
    assert_eq!(scene.texts("keep"), ["q1", "a1"]);
}

pub(super) fn gc_gives_back_what_stands_behind_the_last_cut(scene: &Scene<'_>) {
    scene.root("a", vec![user("needed"), megabyte(), megabyte()]);
    scene.fork("a", "b", 1, vec![]);
    let full = scene.store().store_bytes().unwrap();
    scene.delete("a");
    collect(scene);
    let left = scene.store().store_bytes().unwrap();
    assert!(left + (2 << 20) <= full, "{full} bytes before, {left} after");
    assert_eq!(scene.texts("b"), ["session_fork", "needed"]);
}

pub(super) fn gc_keeps_what_a_grandchild_needs(scene: &Scene<'_>) {
    scene.root("a", vec![megabyte()]);
    scene.fork("a", "b", 1, vec![megabyte()]);
    scene.fork("b", "c", 2, vec![]);
    let before = scene.log("c");
    scene.remove(&["a", "b"], Children::Retain).unwrap();
    collect(scene);
    assert_eq!(scene.log("c"), before);
    scene.delete("c");
    collect(scene);
    assert!(scene.store().store_bytes().unwrap() < 1 << 20);
}

pub(super) fn a_pack_changes_no_answer(scene: &Scene<'_>) {
    super::read::three_generations(scene);
    scene.copy("c", "d", 20, turns(1));
    scene.root("long", turns(150));
    scene.root("large", vec![megabyte(), user("small"), megabyte()]);
    scene.fork("long", "e", 170, turns(40));
    let sessions = ["a", "b", "c", "d", "e", "long", "large"];
    let before = sessions.map(|session| (scene.log(session), scene.header(session)));
    scene.pack();
    assert_eq!(sessions.map(|session| (scene.log(session), scene.header(session))), before);
    for session in sessions {
        scene.append(session, turns(70));
    }
    scene.pack();
    scene.fork("long", "f", 400, turns(3));
    scene.delete("long");
    scene.detach("e");
    collect(scene);
    assert_eq!(scene.log("f").len(), 1 + 400 + 6);
    assert_eq!(scene.log("e").len(), before[4].0.len() + 140);
    scene.assert_sound();
}

pub(super) fn a_second_pack_finds_nothing(scene: &Scene<'_>) {
    scene.root("a", turns(100));
    scene.pack();
    let again = scene.store().pack(scene.clock.now()).unwrap();
    assert_eq!((again.events, again.histories), (0, 0));
}

pub(super) fn what_is_in_use_is_not_packed(scene: &Scene<'_>) {
    scene.root("a", turns(100));
    let before = scene.clock.now();
    scene.fork("a", "b", 20, turns(1));
    let packed = scene.store().pack(before).unwrap();
    assert_eq!(packed.events, 0);
}

pub(super) fn a_second_gc_finds_nothing(scene: &Scene<'_>) {
    scene.root("a", turns(5));
    scene.fork("a", "b", 3, vec![]);
    scene.delete("a");
    collect(scene);
    let again = collect(scene);
    assert_eq!((again.segments, again.events), (0, 0));
}

pub(super) fn gc_leaves_the_trash_alone(scene: &Scene<'_>) {
    scene.root("a", vec![user("needed"), megabyte()]);
    scene.fork("a", "b", 2, vec![megabyte()]);
    scene.copy("a", "c", 2, vec![megabyte()]);
    let sessions = ["a", "b", "c"];
    let before = sessions.map(|session| (scene.header(session), scene.log(session)));
    scene.trash(&["c", "b", "a"], Children::Refuse).unwrap();
    let collected = collect(scene);
    assert_eq!((collected.segments, collected.events), (0, 0));
    scene.assert_sound();
    for (session, label) in [("c", "c"), ("b", "b"), ("a", "main")] {
        scene.undelete(session, label).unwrap();
    }
    assert_eq!(sessions.map(|session| (scene.header(session), scene.log(session))), before);
}

pub(super) fn gc_gives_back_what_was_erased_from_the_trash(scene: &Scene<'_>) {
    scene.root("a", vec![user("needed"), megabyte(), megabyte()]);
    scene.fork("a", "b", 1, vec![megabyte()]);
    let full = scene.store().store_bytes().unwrap();
    scene.trash(&["b", "a"], Children::Refuse).unwrap();
    let ids = [id("b"), id("a")];
    let last = Deletion::Expire(scene.clock.now());
    scene.store().delete(&ids, Children::Retain, last, scene.clock.now()).unwrap();
    collect(scene);
    let left = scene.store().store_bytes().unwrap();
    assert!(left + (3 << 20) <= full, "{full} bytes before, {left} after");
    scene.assert_sound();
}

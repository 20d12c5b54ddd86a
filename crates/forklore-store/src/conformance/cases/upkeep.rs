//! Upkeep gives back what nobody needs, and only that.

use crate::conformance::events::{Draft, turns, user};
use crate::conformance::scene::Scene;
use crate::port::Children;

fn collect(scene: &Scene<'_>) -> crate::port::Collected {
    scene.upkeep().gc(scene.clock.now()).unwrap()
}

fn megabyte() -> Draft {
    user(&"0123456789abcdef".repeat(1 << 16))
}

pub(super) fn a52_gc_changes_no_answer(scene: &Scene<'_>) {
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

pub(super) fn a52_gc_gives_back_a_deleted_session(scene: &Scene<'_>) {
    scene.root("keep", turns(1));
    scene.root("a", vec![megabyte(), megabyte()]);
    let full = scene.upkeep().store_bytes().unwrap();
    scene.delete("a");
    collect(scene);
    let left = scene.upkeep().store_bytes().unwrap();
    assert!(left + (2 << 20) <= full, "{full} bytes before, {left} after");
    assert_eq!(scene.texts("keep"), ["q1", "a1"]);
}

pub(super) fn a52_gc_gives_back_what_stands_behind_the_last_cut(scene: &Scene<'_>) {
    scene.root("a", vec![user("needed"), megabyte(), megabyte()]);
    scene.fork("a", "b", 1, vec![]);
    let full = scene.upkeep().store_bytes().unwrap();
    scene.delete("a");
    collect(scene);
    let left = scene.upkeep().store_bytes().unwrap();
    assert!(left + (2 << 20) <= full, "{full} bytes before, {left} after");
    assert_eq!(scene.texts("b"), ["session_fork", "needed"]);
}

pub(super) fn a52_gc_keeps_what_a_grandchild_needs(scene: &Scene<'_>) {
    scene.root("a", vec![megabyte()]);
    scene.fork("a", "b", 1, vec![megabyte()]);
    scene.fork("b", "c", 2, vec![]);
    let before = scene.log("c");
    scene.remove(&["a", "b"], Children::Keep).unwrap();
    collect(scene);
    assert_eq!(scene.log("c"), before);
    scene.delete("c");
    collect(scene);
    assert!(scene.upkeep().store_bytes().unwrap() < 1 << 20);
}

pub(super) fn a_second_gc_finds_nothing(scene: &Scene<'_>) {
    scene.root("a", turns(5));
    scene.fork("a", "b", 3, vec![]);
    scene.delete("a");
    collect(scene);
    let again = collect(scene);
    assert_eq!((again.segments, again.events), (0, 0));
}

//! Cases: a cut is the position in a parent's history where a child begins. The child inherits the
//! inheritable events before its cut, and none after it.

use forklore_core::header::Strategy;

use crate::events::{asks, assistant, result, rich, turns, usage, user};
use crate::scene::{Scene, forward, id, refused};
use forklore_store::error::Error;
use forklore_store::port::{At, LogEntry};

/// Returns the events that a child inherits from `log` if it inherits `count` events. They get new
/// seqs, from 1 on; their origins are unchanged.
fn prefix(log: &[LogEntry], count: u64) -> Vec<LogEntry> {
    let inherited = log.iter().filter(|stored| stored.event.class.is_inherited());
    let renumbered = (1..).zip(inherited.take(usize::try_from(count).unwrap()));
    renumbered.map(|(seq, stored)| LogEntry { seq, ..stored.clone() }).collect()
}

pub(super) fn a_fork_keeps_what_stands_before_the_cut(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.append("a", vec![user("q3")]);
    scene.fork("a", "b", 3, vec![assistant("other")]);
    assert_eq!(scene.texts("b"), ["session_fork", "q1", "a1", "q2", "other"]);
    assert_eq!(scene.texts("a"), ["q1", "a1", "q2", "a2", "q3"]);
    assert_eq!(scene.log("b")[1..4], prefix(&scene.log("a"), 3));
}

pub(super) fn a_cut_behind_the_end_is_refused(scene: &Scene<'_>) {
    scene.root("a", rich());
    for inheritable in [13, 1000, u64::MAX] {
        let child = scene.child_draft("a", "b", inheritable, Strategy::ShareV1, vec![]);
        assert!(matches!(scene.store().create(child), Err(Error::Invalid(_))));
        refused(scene.store().header(&id("b")), &Error::NotFound(id("b")));
    }
    scene.fork("a", "b", 12, vec![]);
}

pub(super) fn usage_behind_the_last_message_changes_nothing(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "before", 2, vec![]);
    scene.append("a", vec![usage(9, 9)]);
    scene.fork("a", "behind", 2, vec![]);
    let (before, behind) = (scene.header("before"), scene.header("behind"));
    assert_eq!(before.inherited, behind.inherited);
    assert_eq!(before.cut, behind.cut);
    assert_eq!(scene.texts("behind"), ["session_fork", "q1", "a1"]);
}

pub(super) fn a_cut_at_the_start_keeps_nothing(scene: &Scene<'_>) {
    scene.root("a", vec![]);
    scene.root("full", turns(2));
    for (parent, child) in [("a", "b"), ("full", "c")] {
        let header = scene.fork(parent, child, 0, vec![user("afresh")]);
        assert_eq!((header.inherited.inheritable, header.head_seq()), (0, 1));
        assert_eq!(scene.texts(child), ["session_fork", "afresh"]);
    }
}

pub(super) fn every_cut_keeps_its_prefix(scene: &Scene<'_>) {
    scene.root("a", rich());
    let log = scene.log("a");
    for inheritable in 0..=12 {
        let child = format!("b{inheritable}");
        let header = scene.fork("a", &child, inheritable, vec![]);
        let mut got = scene.log(&child);
        assert_eq!(got.remove(0).event.kind.as_str(), "session_fork");
        assert_eq!(got, prefix(&log, inheritable));
        assert_eq!(header.inherited, got.last().map(|stored| stored.counts).unwrap_or_default());
        assert_eq!(header.head_seq(), i64::try_from(inheritable).unwrap());
    }
}

pub(super) fn every_cut_inside_an_ancestors_part_keeps_its_prefix(scene: &Scene<'_>) {
    super::read::three_generations(scene);
    let log = scene.log("c");
    let inheritable = scene.header("c").counts.inheritable;
    for inheritable in 0..=inheritable {
        let child = format!("d{inheritable}");
        scene.fork("c", &child, inheritable, vec![user("on")]);
        let mut got = scene.log(&child);
        let (fork, tail) = (got.remove(0), got.pop().unwrap());
        assert_eq!((fork.seq, tail.seq), (0, inheritable + 1));
        assert_eq!(got, prefix(&log, inheritable));
    }
}

pub(super) fn index_and_turn_are_the_same_in_parent_and_child(scene: &Scene<'_>) {
    scene.root("a", rich());
    scene.fork("a", "b", 12, vec![]);
    let at = |session: &str, at: At| {
        let page = scene.store().read(&id(session), &forward(at, 1, false)).unwrap();
        page.events.into_iter().map(|stored| (stored.origin, stored.counts)).collect::<Vec<_>>()
    };
    for index in 0..9 {
        assert_eq!(at("a", At::Index(index)), at("b", At::Index(index)));
    }
    for turn in 1..3 {
        assert_eq!(at("a", At::Turn(turn)), at("b", At::Turn(turn)));
    }
}

pub(super) fn a_turn_goes_on_through_its_calls(scene: &Scene<'_>) {
    scene.root(
        "a",
        vec![user("q"), asks(&[("c", "ls")]), result("c", "x"), assistant("a"), user("q2")],
    );
    let turns: Vec<_> = scene.log("a").iter().map(|stored| stored.counts.turns).collect();
    assert_eq!(turns, [1, 1, 1, 1, 2]);
}

pub(super) fn nothing_behind_the_cut_reaches_the_child(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 2, vec![]);
    let before = scene.log("b");
    scene.append("a", vec![user("late")]);
    assert_eq!(scene.log("b"), before);
    assert_eq!(scene.texts("b"), ["session_fork", "q1", "a1"]);
}

//! Cases: a detached session has its own copy of its prefix. Only its header shows the difference.

use forklore_core::Header;

use crate::events::{rich, turns, user};
use crate::scene::{Scene, backward, forward};
use forklore_store::port::{At, Changed, Children};

pub(super) fn every_read_stays_the_same(scene: &Scene<'_>) {
    super::read::three_generations(scene);
    let positions = || [At::Seq(0), At::Seq(20), At::Inheritable(9), At::Index(10), At::Turn(3)];
    let read = || {
        let queries = positions()
            .into_iter()
            .flat_map(|at| [forward(at.clone(), 3, false), backward(at, 5, true)]);
        queries.map(|query| scene.pages("c", &query)).collect::<Vec<_>>()
    };
    let before = (scene.header("c"), read());
    let changed = scene.detach("c");
    let detached = Header { detached: true, ..before.0 };
    assert_eq!(changed, Changed { header: detached.clone(), copied_events: 17 });
    assert_eq!((scene.header("c"), read()), (detached, before.1));
    scene.assert_sound();
}

pub(super) fn a_detached_child_does_not_refuse_a_delete(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 3, turns(1));
    scene.fork("b", "c", 5, turns(1));
    let before = (scene.log("b"), scene.log("c"));
    scene.detach("b");
    let removed = scene.remove(&["a"], Children::Refuse).unwrap();
    assert_eq!(removed.retained_segments, 1);
    assert_eq!((scene.log("b"), scene.log("c")), before);
    scene.assert_sound();
}

pub(super) fn a_detached_child_alone_needs_nothing(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 3, turns(1));
    let before = scene.log("b");
    scene.detach("b");
    assert_eq!(scene.remove(&["a"], Children::Refuse).unwrap().retained_segments, 0);
    assert_eq!(scene.log("b"), before);
}

pub(super) fn a_second_detach_copies_nothing(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 3, vec![]);
    assert_eq!(scene.detach("b").copied_events, 3);
    assert_eq!(scene.detach("b").copied_events, 0);
    assert!(scene.header("b").detached);
}

pub(super) fn an_empty_prefix_is_detached_too(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 0, vec![user("afresh")]);
    assert_eq!(scene.detach("b").copied_events, 0);
    scene.remove(&["a"], Children::Refuse).unwrap();
    assert_eq!(scene.texts("b"), ["session_fork", "afresh"]);
}

pub(super) fn a_copy_is_detached_without_copying(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.copy("a", "b", 2, vec![]);
    let before = scene.log("b");
    assert_eq!(scene.detach("b").copied_events, 0);
    scene.remove(&["a"], Children::Refuse).unwrap();
    assert_eq!(scene.log("b"), before);
}

pub(super) fn a_detached_session_goes_on(scene: &Scene<'_>) {
    scene.root("a", rich());
    scene.fork("a", "b", 10, vec![]);
    scene.detach("b");
    let appended = scene.append("b", turns(1));
    assert_eq!((appended.from_seq, appended.to_seq), (11, 12));
    scene.fork("b", "inside", 4, vec![]);
    scene.fork("b", "behind", 12, vec![]);
    assert_eq!(scene.log("inside")[1..], scene.log("b")[1..=4]);
    assert_eq!(scene.log("behind")[1..], scene.log("b")[1..=12]);
}

pub(super) fn children_from_before_and_after_it_load(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 4, turns(1));
    scene.fork("b", "before", 5, vec![]);
    scene.detach("b");
    scene.fork("b", "after", 5, vec![]);
    let logs = || ["before", "after"].map(|session| scene.log(session)[1..].to_vec());
    let before = logs();
    assert_eq!(before[0], before[1]);
    assert_eq!(scene.delete("b").retained_segments, 1);
    assert_eq!(scene.delete("a").retained_segments, 1);
    assert_eq!(logs(), before);
    assert_eq!(scene.delete("before").retained_segments, 0);
    assert_eq!(scene.log("after")[1..], before[1]);
    scene.assert_sound();
}

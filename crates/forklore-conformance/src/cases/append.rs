//! Cases: an append is atomic, is refused if the head is not the expected one, and is idempotent.

use forklore_core::Usage;

use crate::events::{assistant, turns, usage, user};
use crate::scene::{Scene, counts_of, id, refused};
use forklore_store::error::Error;
use forklore_store::port::{Append, Appended};

pub(super) fn events_go_behind_the_head(scene: &Scene<'_>) {
    scene.root("a", vec![]);
    let first = scene.append("a", turns(1));
    assert_eq!(first, Appended { from_seq: 0, to_seq: 1, head_seq: 1, repeated: false });
    let second = scene.append("a", vec![user("q2")]);
    assert_eq!(second, Appended { from_seq: 2, to_seq: 2, head_seq: 2, repeated: false });
    assert_eq!(scene.texts("a"), ["q1", "a1", "q2"]);
}

pub(super) fn a_wrong_head_is_refused_with_the_real_one(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    for expected in [-1, 0, 2, 99, i64::MIN, i64::MAX] {
        let append = Append { expect: Some(expected), ..scene.appending(vec![user("no")]) };
        let conflict = Error::Conflict { session: id("a"), expected, head: 1 };
        refused(scene.store().append(&id("a"), append), &conflict);
    }
    assert_eq!(scene.texts("a"), ["q1", "a1"]);
}

pub(super) fn the_right_head_is_accepted(scene: &Scene<'_>) {
    scene.root("a", vec![]);
    scene.root("parent", turns(2));
    scene.fork("parent", "b", 3, vec![]);
    for (session, expect) in [("a", -1), ("a", 0), ("b", 3), ("b", 4)] {
        let append = Append { expect: Some(expect), ..scene.appending(vec![user("yes")]) };
        let appended = scene.store().append(&id(session), append).unwrap();
        assert_eq!(appended.head_seq, expect + 1);
    }
}

pub(super) fn a_refused_batch_leaves_nothing(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let before = (scene.header("a"), scene.log("a"));
    let mut batch = turns(20);
    batch.push(usage(5, 5));
    let append = Append { expect: Some(0), ..scene.appending(batch) };
    let conflict = Error::Conflict { session: id("a"), expected: 0, head: 1 };
    refused(scene.store().append(&id("a"), append), &conflict);
    assert_eq!((scene.header("a"), scene.log("a")), before);
}

pub(super) fn a_repeated_append_is_harmless(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let append = Append { expect: Some(1), ..scene.appending(vec![user("q2"), usage(3, 4)]) };
    let first = scene.store().append(&id("a"), append.clone()).unwrap();
    let before = (scene.header("a"), scene.log("a"));
    let again = scene.store().append(&id("a"), append).unwrap();
    assert_eq!(again, Appended { repeated: true, ..first });
    assert_eq!((scene.header("a"), scene.log("a")), before);
}

pub(super) fn a_repetition_is_recognised_after_others_wrote(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let append = Append { expect: Some(1), ..scene.appending(turns(1)) };
    scene.store().append(&id("a"), append.clone()).unwrap();
    scene.append("a", turns(2));
    let again = scene.store().append(&id("a"), append).unwrap();
    assert_eq!(again, Appended { from_seq: 2, to_seq: 3, head_seq: 7, repeated: true });
}

pub(super) fn a_repetition_is_recognised_in_a_child(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 4, vec![]);
    let append = Append { expect: Some(4), ..scene.appending(turns(1)) };
    scene.store().append(&id("b"), append.clone()).unwrap();
    let again = scene.store().append(&id("b"), append).unwrap();
    assert_eq!(again, Appended { from_seq: 5, to_seq: 6, head_seq: 6, repeated: true });
}

pub(super) fn inherited_events_are_no_repetition(scene: &Scene<'_>) {
    scene.root("a", vec![]);
    let append = Append { expect: Some(-1), ..scene.appending(turns(1)) };
    scene.store().append(&id("a"), append.clone()).unwrap();
    scene.append("a", turns(1));
    scene.fork("a", "b", 4, vec![]);
    // A child's inherited events begin at seq 1.
    let append = Append { expect: Some(0), ..append };
    let conflict = Error::Conflict { session: id("b"), expected: 0, head: 4 };
    refused(scene.store().append(&id("b"), append), &conflict);
}

pub(super) fn what_is_not_quite_a_repetition_conflicts(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let append = Append { expect: Some(1), ..scene.appending(turns(2)) };
    scene.store().append(&id("a"), append.clone()).unwrap();
    let conflict = Error::Conflict { session: id("a"), expected: 1, head: 5 };
    let mut other_id = append.clone();
    other_id.events[3].id = scene.clock.event_id();
    let mut longer = append.clone();
    longer.events.extend(scene.build(turns(1)));
    let mut other_order = append;
    other_order.events.swap(0, 1);
    for almost in [other_id, longer, other_order] {
        refused(scene.store().append(&id("a"), almost), &conflict);
    }
    assert_eq!(scene.header("a").head_seq(), 5);
}

pub(super) fn the_beginning_of_a_batch_is_a_repetition_too(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let append = Append { expect: Some(1), ..scene.appending(turns(2)) };
    scene.store().append(&id("a"), append.clone()).unwrap();
    let mut shorter = append;
    shorter.events.truncate(3);
    let again = scene.store().append(&id("a"), shorter).unwrap();
    assert_eq!(again, Appended { from_seq: 2, to_seq: 4, head_seq: 5, repeated: true });
}

pub(super) fn without_an_expectation_nothing_is_a_repetition(scene: &Scene<'_>) {
    scene.root("a", vec![]);
    let append = scene.appending(turns(1));
    scene.store().append(&id("a"), append.clone()).unwrap();
    let second = scene.store().append(&id("a"), append).unwrap();
    assert_eq!(second, Appended { from_seq: 2, to_seq: 3, head_seq: 3, repeated: false });
    assert_eq!(scene.texts("a"), ["q1", "a1", "q1", "a1"]);
}

pub(super) fn an_append_of_nothing_is_refused(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let nothing = scene.appending(vec![]);
    assert!(matches!(scene.store().append(&id("a"), nothing), Err(Error::Invalid(_))));
}

pub(super) fn an_append_to_nobody_makes_nobody(scene: &Scene<'_>) {
    let append = scene.appending(turns(1));
    refused(scene.store().append(&id("a"), append.clone()), &Error::NotFound(id("a")));
    scene.root("b", turns(1));
    scene.delete("b");
    refused(scene.store().append(&id("b"), append), &Error::Deleted(id("b")));
    refused(scene.store().header(&id("a")), &Error::NotFound(id("a")));
}

pub(super) fn siblings_and_parents_do_not_see_it(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 4, vec![]);
    scene.fork("a", "c", 4, vec![]);
    let before = (scene.log("a"), scene.log("c"));
    scene.append("b", turns(1));
    assert_eq!((scene.log("a"), scene.log("c")), before);
}

pub(super) fn the_header_adds_everything_up(scene: &Scene<'_>) {
    scene.root("a", vec![user("q")]);
    scene.append("a", vec![usage(10, 1), assistant("a")]);
    let append = scene.appending(vec![usage(5, 2)]);
    scene.store().append(&id("a"), append.clone()).unwrap();
    let (header, log) = (scene.header("a"), scene.log("a"));
    let bytes: usize = log.iter().map(|stored| stored.event.data.get().len()).sum();
    assert_eq!((header.own_events, header.own_bytes), (4, bytes as u64));
    assert_eq!(header.usage, Usage { input: 15, output: 3, ..Usage::default() });
    assert_eq!((header.counts, header.updated), (counts_of(&log), append.now));
}

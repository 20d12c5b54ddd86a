//! Who runs a session may write to it; the others wait, or fork.

use forklore_core::Lease;
use forklore_core::header::Strategy;

use crate::events::{at_tick, turns, user};
use crate::scene::{Scene, id, label, refused};
use forklore_store::error::Error;
use forklore_store::port::{Append, Change, Children};

/// Later than any moment of a test's clock.
const FAR: u64 = 1_000_000;

fn held(owner: &str) -> Error {
    Error::Held { session: id("a"), owner: owner.into() }
}

fn lost(owner: &str) -> Error {
    Error::LeaseLost { session: id("a"), owner: owner.into() }
}

fn by(scene: &Scene<'_>, owner: Option<&str>) -> Append {
    Append { owner: owner.map(str::to_owned), ..scene.appending(vec![user("more")]) }
}

pub(super) fn a56_a_lease_says_where_the_turn_began(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let changed = scene.hold("a", "run1", at_tick(FAR)).unwrap();
    let lease = Lease { owner: "run1".into(), expires: at_tick(FAR), began_at: 1 };
    assert_eq!(changed.header.lease, Some(lease.clone()));
    assert_eq!(scene.header("a").lease, Some(lease));
}

pub(super) fn a56_renewing_keeps_where_the_turn_began(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.hold("a", "run1", at_tick(FAR)).unwrap();
    scene.store().append(&id("a"), by(scene, Some("run1"))).unwrap();
    let renewed = scene.hold("a", "run1", at_tick(FAR + 5)).unwrap().header.lease;
    assert_eq!(
        renewed,
        Some(Lease { owner: "run1".into(), expires: at_tick(FAR + 5), began_at: 1 })
    );
}

pub(super) fn a55_others_may_not_write_while_it_is_held(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.hold("a", "run1", at_tick(FAR)).unwrap();
    refused(scene.store().append(&id("a"), by(scene, None)), &held("run1"));
    refused(scene.store().append(&id("a"), by(scene, Some("run2"))), &lost("run2"));
    refused(scene.hold("a", "run2", at_tick(FAR)), &held("run1"));
    scene.store().append(&id("a"), by(scene, Some("run1"))).unwrap();
    assert_eq!(scene.texts("a"), ["q1", "a1", "more"]);
}

pub(super) fn a55_an_expired_lease_holds_nobody_off(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.hold("a", "run1", at_tick(0)).unwrap();
    refused(scene.store().append(&id("a"), by(scene, Some("run1"))), &lost("run1"));
    scene.store().append(&id("a"), by(scene, None)).unwrap();
    let taken = scene.hold("a", "run2", at_tick(FAR)).unwrap().header.lease;
    assert_eq!(taken, Some(Lease { owner: "run2".into(), expires: at_tick(FAR), began_at: 2 }));
}

pub(super) fn a55_a_lease_ends_at_the_moment_it_names(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.hold("a", "run1", at_tick(FAR)).unwrap();
    let at = |now| Append { now, ..by(scene, None) };
    refused(scene.store().append(&id("a"), at(at_tick(FAR - 1))), &held("run1"));
    scene.store().append(&id("a"), at(at_tick(FAR))).unwrap();
}

pub(super) fn a56_taking_it_again_begins_a_turn(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.hold("a", "run1", at_tick(0)).unwrap();
    scene.append("a", turns(1));
    let taken = scene.hold("a", "run1", at_tick(FAR)).unwrap().header.lease;
    assert_eq!(taken.map(|lease| lease.began_at), Some(3));
}

pub(super) fn a55_release_gives_it_back(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.hold("a", "run1", at_tick(FAR)).unwrap();
    let release =
        |owner: &str| scene.store().change(&id("a"), &Change::Release { owner: owner.into() });
    refused(release("run2"), &lost("run2"));
    assert_eq!(release("run1").unwrap().header.lease, None);
    refused(release("run1"), &lost("run1"));
    scene.append("a", turns(1));
    refused(scene.store().append(&id("a"), by(scene, Some("run1"))), &lost("run1"));
}

pub(super) fn a56_reading_fork_label_and_detach_work_while_held(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 4, vec![]);
    scene.hold("b", "run1", at_tick(FAR)).unwrap();
    scene.fork("b", "c", 2, vec![]);
    scene.copy("b", "d", 2, vec![]);
    scene.change("b", &Change::Label(label("running")));
    scene.change("b", &Change::Title(Some("busy".into())));
    scene.detach("b");
    assert_eq!(scene.texts("c"), ["session_fork", "q1", "a1"]);
    assert_eq!(scene.log("b").len(), 5);
    assert_eq!(scene.header("b").lease.map(|lease| lease.owner).as_deref(), Some("run1"));
}

pub(super) fn a52_a_held_session_is_not_deleted(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.root("z", turns(1));
    scene.hold("a", "run1", at_tick(FAR)).unwrap();
    refused(scene.remove(&["z", "a"], Children::Keep), &held("run1"));
    assert_eq!(scene.texts("z"), ["q1", "a1"]);
    let removed = scene.store().remove(&[id("a")], Children::Refuse, at_tick(FAR)).unwrap();
    assert_eq!(removed.deleted, [id("a")]);
}

pub(super) fn a65_a_repetition_needs_no_lease(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.hold("a", "run1", at_tick(FAR)).unwrap();
    let append = Append { expect: Some(1), ..by(scene, Some("run1")) };
    let first = scene.store().append(&id("a"), append.clone()).unwrap();
    scene.change("a", &Change::Release { owner: "run1".into() });
    scene.hold("a", "run2", at_tick(FAR)).unwrap();
    let again = scene.store().append(&id("a"), append).unwrap();
    assert_eq!(
        (again.from_seq, again.to_seq, again.repeated),
        (first.from_seq, first.to_seq, true)
    );
}

pub(super) fn a56_a_child_does_not_inherit_the_lease(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.hold("a", "run1", at_tick(FAR)).unwrap();
    let child = scene.child_draft("a", "b", 2, Strategy::ShareV1, vec![]);
    assert_eq!(scene.store().create(child).unwrap().lease, None);
    scene.append("b", turns(1));
}

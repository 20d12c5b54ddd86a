//! Cases: only the owner of a session's lease may write to the session until the lease expires.
//! Other writers get an error.

use std::process::Command;

use forklore_core::Lease;
use forklore_core::header::{LONGEST_LEASE, Strategy};
use jiff::SignedDuration;

use crate::events::{turns, user};
use crate::scene::{LONG, Scene, id, label, refused};
use forklore_store::error::Error;
use forklore_store::lease_owner;
use forklore_store::port::{Append, Change, Children, NewSession};

fn leased(owner: &str) -> Error {
    Error::Leased { session: id("a"), owner: owner.into() }
}

fn lost(owner: &str) -> Error {
    Error::LeaseLost { session: id("a"), owner: owner.into() }
}

fn by(scene: &Scene<'_>, owner: Option<&str>) -> Append {
    Append { owner: owner.map(str::to_owned), ..scene.appending(vec![user("more")]) }
}

/// Asserts that `owner` has this lease, that the head was at seq `began_at` when the turn of the
/// lease began, and that the lease expires about an hour ([`LONG`]) from now.
#[track_caller]
fn assert_lease(scene: &Scene<'_>, lease: Option<&Lease>, owner: &str, began_at: i64) {
    let lease = lease.expect("a lease");
    assert_eq!((&*lease.owner, lease.began_at), (owner, began_at));
    let left = lease.expires.duration_since(scene.store().now());
    assert!(left > LONG - SignedDuration::from_mins(10) && left <= LONG, "{left:?}");
}

pub(super) fn a_lease_says_where_the_turn_began(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let changed = scene.hold("a", "run1", LONG).unwrap();
    assert_lease(scene, changed.header.lease.as_ref(), "run1", 1);
    assert_eq!(scene.header("a").lease, changed.header.lease);
}

pub(super) fn renewing_keeps_where_the_turn_began(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.hold("a", "run1", SignedDuration::from_mins(20)).unwrap();
    scene.store().append(&id("a"), by(scene, Some("run1"))).unwrap();
    let renewed = scene.hold("a", "run1", LONG).unwrap().header.lease;
    assert_lease(scene, renewed.as_ref(), "run1", 1);
}

pub(super) fn others_may_not_write_while_it_is_leased(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.hold("a", "run1", LONG).unwrap();
    refused(scene.store().append(&id("a"), by(scene, None)), &leased("run1"));
    refused(scene.store().append(&id("a"), by(scene, Some("run2"))), &lost("run2"));
    refused(scene.hold("a", "run2", LONG), &leased("run1"));
    scene.store().append(&id("a"), by(scene, Some("run1"))).unwrap();
    assert_eq!(scene.texts("a"), ["q1", "a1", "more"]);
}

pub(super) fn an_expired_lease_holds_nobody_off(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.hold("a", "run1", SignedDuration::ZERO).unwrap();
    refused(scene.store().append(&id("a"), by(scene, Some("run1"))), &lost("run1"));
    scene.store().append(&id("a"), by(scene, None)).unwrap();
    let lease = scene.hold("a", "run2", LONG).unwrap().header.lease;
    assert_lease(scene, lease.as_ref(), "run2", 2);
}

pub(super) fn a_lease_ends_at_the_moment_it_names(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let short = SignedDuration::from_millis(300);
    let lease = scene.hold("a", "run1", short).unwrap().header.lease.expect("a lease");
    let mut refusals = 0;
    while let Err(error) = scene.store().append(&id("a"), by(scene, None)) {
        assert_eq!(format!("{error:?}"), format!("{:?}", leased("run1")));
        refusals += 1;
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(scene.store().now() >= lease.expires, "it ended early, after {refusals} refusals");
}

pub(super) fn a_writer_whose_clock_is_a_day_wrong_keeps_and_breaks_no_lease(scene: &Scene<'_>) {
    let day = SignedDuration::from_hours(24);
    for (name, now) in [("late", scene.store().now() - day), ("early", scene.store().now() + day)] {
        scene.root(name, turns(1));
        let skewed = |owner: Option<&str>| Append { now, ..by(scene, owner) };
        let append = |owner: Option<&str>| scene.store().append(&id(name), skewed(owner));
        // The lease of `run1` is active, so other writers are refused.
        scene.hold(name, "run1", LONG).unwrap();
        let pin = Error::Leased { session: id(name), owner: "run1".into() };
        refused(append(None), &pin);
        refused(scene.remove_at(&[name], now), &pin);
        append(Some("run1")).unwrap();
        // The lease of `run1` has expired, so `run1` is refused and others may write.
        scene.hold(name, "run1", SignedDuration::ZERO).unwrap();
        let lost = Error::LeaseLost { session: id(name), owner: "run1".into() };
        refused(append(Some("run1")), &lost);
        append(None).unwrap();
    }
}

pub(super) fn no_lease_is_longer_than_a_day(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let ten_years = SignedDuration::from_hours(10 * 365 * 24);
    let lease = scene.hold("a", "run1", ten_years).unwrap().header.lease.expect("a lease");
    assert!(lease.expires.duration_since(scene.store().now()) <= LONGEST_LEASE);
}

pub(super) fn nothing_is_recorded_as_later_than_the_stores_time(scene: &Scene<'_>) {
    let later = scene.store().now() + SignedDuration::from_hours(24);
    let new = NewSession { created: later, ..scene.draft("a", turns(1)) };
    let made = scene.store().create(new).unwrap();
    assert!(made.created <= scene.store().now() && made.updated == made.created);
    scene.store().append(&id("a"), Append { now: later, ..by(scene, None) }).unwrap();
    assert!(scene.header("a").updated <= scene.store().now());
    scene.remove_at(&["a"], later).unwrap();
    let gone = scene.header("a").deleted.expect("a tombstone");
    assert!(gone.deleted <= scene.store().now());
}

pub(super) fn taking_it_again_begins_a_turn(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.hold("a", "run1", SignedDuration::ZERO).unwrap();
    scene.append("a", turns(1));
    let lease = scene.hold("a", "run1", LONG).unwrap().header.lease;
    assert_eq!(lease.map(|lease| lease.began_at), Some(3));
}

pub(super) fn release_gives_it_back(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.hold("a", "run1", LONG).unwrap();
    let release =
        |owner: &str| scene.store().change(&id("a"), &Change::Release { owner: owner.into() });
    refused(release("run2"), &lost("run2"));
    assert_eq!(release("run1").unwrap().header.lease, None);
    refused(release("run1"), &lost("run1"));
    scene.append("a", turns(1));
    refused(scene.store().append(&id("a"), by(scene, Some("run1"))), &lost("run1"));
}

pub(super) fn reading_fork_label_and_detach_work_while_leased(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 4, vec![]);
    scene.hold("b", "run1", LONG).unwrap();
    scene.fork("b", "c", 2, vec![]);
    scene.copy("b", "d", 2, vec![]);
    scene.change("b", &Change::Label(label("running")));
    scene.change("b", &Change::Title(Some("busy".into())));
    scene.detach("b");
    assert_eq!(scene.texts("c"), ["session_fork", "q1", "a1"]);
    assert_eq!(scene.log("b").len(), 5);
    assert_eq!(scene.header("b").lease.map(|lease| lease.owner).as_deref(), Some("run1"));
}

pub(super) fn a_leased_session_is_not_deleted(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.root("z", turns(1));
    scene.hold("a", "run1", LONG).unwrap();
    refused(scene.remove(&["z", "a"], Children::Retain), &leased("run1"));
    assert_eq!(scene.texts("z"), ["q1", "a1"]);
    scene.hold("a", "run1", SignedDuration::ZERO).unwrap();
    let removed = scene.remove(&["a"], Children::Refuse).unwrap();
    assert_eq!(removed.deleted, [id("a")]);
}

pub(super) fn a_repetition_needs_no_lease(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.hold("a", "run1", LONG).unwrap();
    let append = Append { expect: Some(1), ..by(scene, Some("run1")) };
    let first = scene.store().append(&id("a"), append.clone()).unwrap();
    scene.change("a", &Change::Release { owner: "run1".into() });
    scene.hold("a", "run2", LONG).unwrap();
    let again = scene.store().append(&id("a"), append).unwrap();
    assert_eq!(
        (again.from_seq, again.to_seq, again.repeated),
        (first.from_seq, first.to_seq, true)
    );
}

pub(super) fn a_child_does_not_inherit_the_lease(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.hold("a", "run1", LONG).unwrap();
    let child = scene.child_draft("a", "b", 2, Strategy::ShareV1, vec![]);
    assert_eq!(scene.store().create(child).unwrap().lease, None);
    scene.append("b", turns(1));
}

/// Checks that the lease of a process that is gone holds off no other writer. Only on Linux can the
/// store be certain that a process is gone. On other systems, other writers wait until the lease
/// expires.
pub(super) fn the_lease_of_a_process_that_is_gone_holds_nobody_off(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.root("b", turns(1));
    let mut runtime = Command::new("sleep").arg("1000").spawn().unwrap();
    let owner = lease_owner::name_of("a runtime", "1", runtime.id());
    for session in ["a", "b"] {
        scene.hold(session, &owner, LONG).unwrap();
        scene.store().append(&id(session), by(scene, Some(&owner))).unwrap();
    }
    refused(scene.store().append(&id("a"), by(scene, None)), &leased(&owner));
    refused(scene.hold("a", "run2", LONG), &leased(&owner));
    let delete = scene.remove(&["b"], Children::Refuse).unwrap_err();
    assert!(matches!(delete, Error::Leased { .. }), "{delete:?}");
    runtime.kill().unwrap();
    runtime.wait().unwrap();
    let is_gone = lease_owner::is_gone(&owner);
    assert_eq!(is_gone, cfg!(target_os = "linux"), "{owner}");
    if !is_gone {
        return;
    }
    scene.store().append(&id("a"), by(scene, None)).unwrap();
    // The turn of the other runtime begins where the session now ends.
    let lease = scene.hold("a", "run2", LONG).unwrap().header.lease;
    assert_lease(scene, lease.as_ref(), "run2", 3);
    refused(scene.store().append(&id("a"), by(scene, Some(&owner))), &lost(&owner));
    scene.remove(&["b"], Children::Refuse).unwrap();
}

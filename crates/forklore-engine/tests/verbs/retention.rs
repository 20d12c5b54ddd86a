//! Tests of `gc --policy`, which deletes what was not changed for long, and of `verify --sample`.

use std::num::NonZeroU32;

use forklore_core::{ErrorKind, SessionId, SessionKind};
use forklore_engine::{
    AppliedRetention, ApplyRetention, Fork, Retention, SampleSize, SpareReason, Undelete,
    VerifySample,
};

use crate::world::{World, id, on_every_store};

on_every_store!(
    what_was_not_changed_for_long_goes_into_the_trash,
    what_is_used_or_has_a_label_stays,
    sub_agents_go_with_their_parent_and_hold_it_back,
    the_trash_is_erased_by_its_own_age,
    a_sample_is_chosen_by_its_seed,
);

const DAY: u64 = 24 * 60 * 60;

fn days(days: u32) -> Option<NonZeroU32> {
    NonZeroU32::new(days)
}

fn policy(delete: u32, erase: u32) -> Retention {
    Retention {
        delete_after_days: days(delete),
        erase_after_days: days(erase),
        ..Default::default()
    }
}

fn apply(world: &World, policy: Retention, dry_run: bool) -> AppliedRetention {
    world.engine.apply_retention(&ApplyRetention { policy, dry_run }).unwrap()
}

fn deleted(answer: &AppliedRetention) -> Vec<&str> {
    answer.deleted.iter().map(|due| due.session_id.as_str()).collect()
}

fn spared(answer: &AppliedRetention) -> Vec<(&str, SpareReason, Option<&str>)> {
    let spared = answer.spared.iter();
    let mut spared: Vec<_> = spared
        .map(|one| {
            let because = one.because_of.as_ref().map(SessionId::as_str);
            (one.session_id.as_str(), one.reason, because)
        })
        .collect();
    spared.sort_by_key(|(id, ..)| *id);
    spared
}

fn is_alive(world: &World, name: &str) -> bool {
    world.engine.show(&id(name)).is_ok()
}

/// Creates a session `kind` of `parent` with a default label.
fn fork(world: &World, parent: &str, kind: SessionKind, child: &str) {
    let fork = Fork { kind, id: Some(id(child)), ..Fork::of(id(parent)) };
    world.engine.fork(&fork).unwrap();
}

fn what_was_not_changed_for_long_goes_into_the_trash(world: &World) {
    world.session("old", "u1 a1");
    fork(world, "old", SessionKind::Branch, "old-b");
    world.session("parent", "u1 a1");
    fork(world, "parent", SessionKind::Branch, "used");
    world.pass(10 * DAY);
    world.write("used", "u2");
    world.session("new", "u1");
    let planned = apply(world, policy(7, 30), true);
    assert_eq!(deleted(&planned), ["old-b", "old"]);
    assert_eq!(spared(&planned), [("parent", SpareReason::HasChildren, Some("used"))]);
    assert!(planned.dry_run && is_alive(world, "old"));
    let done = apply(world, policy(7, 30), false);
    assert_eq!((deleted(&done), spared(&done)), (deleted(&planned), spared(&planned)));
    let alive = ["old", "old-b", "parent", "used", "new"].map(|name| is_alive(world, name));
    assert_eq!(alive, [false, false, true, true, true]);
    assert_eq!(deleted(&apply(world, policy(7, 30), false)), Vec::<&str>::new());
    for name in ["old", "old-b"] {
        world.engine.undelete(&Undelete { session: id(name), cascade: false }).unwrap();
    }
    assert_eq!(world.engine.verify(None).unwrap().problems, []);
}

fn what_is_used_or_has_a_label_stays(world: &World) {
    world.session("running", "u1");
    world.session("labelled", "u1");
    world.session("plain", "u1");
    world.engine.label(&id("labelled"), &"release".parse().unwrap()).unwrap();
    world.pass(10 * DAY);
    world.engine.take_lease(&id("running"), "somebody").unwrap();
    let all = Retention { spare_labelled: false, ..policy(7, 30) };
    let labelled = ("labelled", SpareReason::Labelled, None);
    let running = ("running", SpareReason::Running, None);
    let answer = apply(world, policy(7, 30), true);
    assert_eq!((deleted(&answer), spared(&answer)), (vec!["plain"], vec![labelled, running]));
    let answer = apply(world, all, false);
    assert_eq!(spared(&answer), [running]);
    assert_eq!(deleted(&answer).len(), 2);
    assert!(is_alive(world, "running") && !is_alive(world, "labelled"));
}

fn sub_agents_go_with_their_parent_and_hold_it_back(world: &World) {
    for name in ["a", "b"] {
        world.session(name, "u1 a1");
        fork(world, name, SessionKind::Delegate, &format!("{name}-helper"));
    }
    world.pass(10 * DAY);
    world.write("b-helper", "u2");
    let answer = apply(world, policy(7, 30), false);
    assert_eq!(deleted(&answer), ["a-helper", "a"]);
    assert_eq!(answer.deleted[0].with, Some(id("a")));
    assert_eq!(spared(&answer), [("b", SpareReason::Changed, Some("b-helper"))]);
    assert!(is_alive(world, "b-helper") && !is_alive(world, "a-helper"));
}

fn the_trash_is_erased_by_its_own_age(world: &World) {
    world.session("old", "u1 a1");
    world.pass(10 * DAY);
    assert_eq!(deleted(&apply(world, policy(7, 3), false)), ["old"]);
    assert_eq!(apply(world, policy(7, 3), false).erased, []);
    world.pass(4 * DAY);
    let planned = apply(world, policy(7, 3), true);
    assert_eq!((planned.erased.len(), planned.collected), (1, None));
    let done = apply(world, policy(7, 3), false);
    assert_eq!(done.erased, planned.erased);
    assert_eq!(done.collected.map(|freed| freed.sessions), Some(1));
    let refused =
        world.engine.undelete(&Undelete { session: id("old"), cascade: false }).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound);
}

fn a_sample_is_chosen_by_its_seed(world: &World) {
    for number in 0..20 {
        world.session(&format!("s{number}"), "u1 a1");
    }
    let sample =
        |size, seed| world.engine.verify_sample(&VerifySample { size, seed: Some(seed) }).unwrap();
    let half = sample(SampleSize::Percent(50), 1);
    assert_eq!((half.verification.sessions, half.seed), (half.of.div_ceil(2), 1));
    assert_eq!(sample(SampleSize::Percent(50), 1), half);
    assert_eq!(sample(SampleSize::Sessions(half.of.div_ceil(2)), 1), half);
    let random =
        world.engine.verify_sample(&VerifySample { size: SampleSize::Sessions(3), seed: None });
    let random = random.unwrap();
    assert_eq!(sample(SampleSize::Sessions(3), random.seed), random);
    assert_eq!(sample(SampleSize::Sessions(1_000), 2).verification.sessions, half.of);
}

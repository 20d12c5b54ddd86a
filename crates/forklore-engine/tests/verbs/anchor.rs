//! Tests of `anchors` and `check_anchors`: hashes of sessions outside of the store.

use forklore_core::SessionKind;
use forklore_engine::{
    Anchor, AnchorKey, AnchorOptions, AnchorReport, AnchorState, Delete, DeleteMode, Fork, Gc,
    Undelete,
};

use crate::world::{World, id, on_every_store};

on_every_store!(
    every_store_has_the_same_hashes,
    honest_work_is_sound,
    every_position_that_was_a_head_is_compared,
    an_edit_is_noticed_by_all_who_inherit_it,
    a_delete_is_sound_unless_exactly_the_same_is_required,
    exactly_the_same_is_required_of_the_newest_anchor,
    a_signature_covers_every_field,
    an_anchor_of_another_store_says_what_is_missing,
);

fn anchors(world: &World) -> Vec<Anchor> {
    let mut anchors = world.engine.anchors(None, None).unwrap();
    anchors.sort_by(|a, b| a.session_id.cmp(&b.session_id));
    anchors
}

fn report(world: &World, anchors: &[Anchor], exact: bool) -> AnchorReport {
    let options = AnchorOptions { exact, ..AnchorOptions::default() };
    world.engine.check_anchors(anchors, &options).unwrap()
}

/// Returns each result as (session, state, whether it is sound).
fn states(report: &AnchorReport) -> Vec<(&str, AnchorState, bool)> {
    let checks = report.checks.iter();
    checks.map(|check| (check.session_id.as_str(), check.state, check.sound)).collect()
}

/// Returns the results that are not sound, as (session, state).
fn found(world: &World, anchors: &[Anchor], exact: bool) -> Vec<(String, AnchorState)> {
    let report = report(world, anchors, exact);
    let wrong = report.checks.iter().filter(|check| !check.sound);
    let found: Vec<_> = wrong.map(|one| (one.session_id.to_string(), one.state)).collect();
    assert_eq!(report.differ, found.len() as u64);
    found
}

/// Writes `root`, its branch `b`, and its sub-agent `d`.
fn family(world: &World) {
    world.session("root", "u1 c:x r:x a1 $ u2 a2");
    world.fork("root", "turn:1", "b");
    world.write("b", "u2b a2b");
    let fork = Fork { kind: SessionKind::Delegate, id: Some(id("d")), ..Fork::of(id("root")) };
    world.engine.fork(&fork).unwrap();
    world.write("d", "u1d");
}

fn every_store_has_the_same_hashes(world: &World) {
    let of = |world: &World| {
        family(world);
        let anchors = anchors(world).into_iter();
        let hashes =
            anchors.map(|one| (one.session_id, one.seq, one.chain, one.lineage, one.settings));
        hashes.collect::<Vec<_>>()
    };
    let hashes = of(world);
    assert_eq!(hashes, of(&World::memory()));
    let heads: Vec<_> = hashes.iter().map(|(id, seq, ..)| (id.as_str(), *seq)).collect();
    assert_eq!(heads, [("b", 6), ("d", 1), ("root", 6)]);
}

fn honest_work_is_sound(world: &World) {
    family(world);
    let before = anchors(world);
    world.write("root", "u3 a3");
    world.fork("b", "end", "c");
    world.engine.label(&id("b"), &"other".parse().unwrap()).unwrap();
    world.engine.rename(&id("root"), Some("A title")).unwrap();
    world.engine.detach(&id("b")).unwrap();
    // Not every store packs.
    let _ = world.engine.pack(std::time::Duration::ZERO);
    assert_eq!(
        states(&report(world, &before, false)),
        ["b", "d", "root"].map(|name| (name, AnchorState::Holds, true))
    );
    assert_eq!(
        found(world, &before, true),
        [
            ("b".to_owned(), AnchorState::Changed),
            ("root".to_owned(), AnchorState::Grown),
            ("c".to_owned(), AnchorState::Unanchored)
        ]
    );
}

fn every_position_that_was_a_head_is_compared(world: &World) {
    let mut all = Vec::new();
    world.session("root", "");
    for word in ["u1", "a1", "u2", "a2"] {
        all.extend(anchors(world));
        world.write("root", word);
    }
    let seqs: Vec<_> = all.iter().map(|anchor| anchor.seq).collect();
    assert_eq!(seqs, [-1, 0, 1, 2]);
    assert_eq!(found(world, &all, false), []);
    // The same texts at the same positions, but not the same events.
    let other = World::memory();
    other.pass(1);
    other.session("root", "u1 a1 u2 a2");
    let states: Vec<_> = report(&other, &all, false).checks.iter().map(|one| one.state).collect();
    let edited = AnchorState::Edited;
    assert_eq!(states, [AnchorState::HeaderEdited, edited, edited, edited]);
}

fn an_edit_is_noticed_by_all_who_inherit_it(world: &World) {
    family(world);
    let before = anchors(world);
    let other = World::memory();
    other.session("root", "u1 c:x r:x a0 $ u2 a2");
    other.fork("root", "turn:1", "b");
    other.write("b", "u2b a2b");
    let fork = Fork { kind: SessionKind::Delegate, id: Some(id("d")), ..Fork::of(id("root")) };
    other.engine.fork(&fork).unwrap();
    other.write("d", "u1d");
    let edited = ["b", "root"].map(|name| (name.to_owned(), AnchorState::Edited));
    assert_eq!(found(&other, &before, false), edited);
}

fn a_delete_is_sound_unless_exactly_the_same_is_required(world: &World) {
    family(world);
    let before = anchors(world);
    let delete = |name: &str| {
        let (session, mode) = (id(name), DeleteMode::Cascade);
        let delete = Delete { session, mode, dry_run: false, erase: false };
        world.engine.delete(&delete).unwrap();
    };
    delete("b");
    let with_b = |state, sound| {
        let holds = |name| (name, AnchorState::Holds, true);
        vec![("b", state, sound), holds("d"), holds("root")]
    };
    assert_eq!(states(&report(world, &before, false)), with_b(AnchorState::Deleted, true));
    assert_eq!(states(&report(world, &before, true)), with_b(AnchorState::Deleted, false));
    world.engine.undelete(&Undelete { session: id("b"), cascade: false }).unwrap();
    assert_eq!(states(&report(world, &before, false)), with_b(AnchorState::Holds, true));
    delete("b");
    world.engine.collect(&Gc::all()).unwrap();
    assert_eq!(states(&report(world, &before, false)), with_b(AnchorState::Erased, true));
    assert_eq!(states(&report(world, &before, true)), with_b(AnchorState::Erased, false));
    assert_eq!(found(world, &anchors(world), true), []);
}

fn exactly_the_same_is_required_of_the_newest_anchor(world: &World) {
    family(world);
    let mut all = anchors(world);
    world.write("root", "u3");
    all.extend(anchors(world));
    assert_eq!(found(world, &all, true), []);
    world.write("root", "a3 u4");
    let report = report(world, &all, true);
    let last = report.checks.iter().find(|check| check.state == AnchorState::Grown).unwrap();
    assert_eq!((last.line, last.seq, report.differ), (Some(6), 7, 1));
    assert_eq!(last.message, "2 events follow what was anchored at 2025-10-09T08:53:20Z");
}

fn a_signature_covers_every_field(world: &World) {
    family(world);
    let key = AnchorKey::new(b"secret").unwrap();
    let signed = world.engine.anchors(Some(&id("root")), Some(&key)).unwrap();
    let [anchor] = signed.as_slice() else { panic!("{signed:?}") };
    assert!(key.has_signed(anchor) && !AnchorKey::new(b"other").unwrap().has_signed(anchor));
    assert_eq!(format!("{key:?}"), "AnchorKey");
    assert!(AnchorKey::new(b"").is_none());
    let edits: [fn(&mut Anchor); 8] = [
        |anchor| anchor.session_id = id("b"),
        |anchor| anchor.seq -= 1,
        |anchor| anchor.chain.push('0'),
        |anchor| anchor.lineage.push('0'),
        |anchor| anchor.settings.push('0'),
        |anchor| anchor.at += jiff::SignedDuration::from_secs(1),
        |anchor| anchor.store = None,
        |anchor| anchor.hmac = None,
    ];
    for (number, edit) in edits.into_iter().enumerate() {
        let mut edited = anchor.clone();
        edit(&mut edited);
        let options = AnchorOptions { key: Some(key.clone()), exact: false };
        let report = world.engine.check_anchors(&[edited], &options).unwrap();
        assert_eq!(report.checks[0].state, AnchorState::Forged, "{number}");
        assert!(report.signed);
    }
}

fn an_anchor_of_another_store_says_what_is_missing(world: &World) {
    family(world);
    let before = anchors(world);
    let other = World::memory();
    other.session("root", "u1 c:x r:x");
    let expected = [
        ("b".to_owned(), AnchorState::Missing),
        ("d".to_owned(), AnchorState::Missing),
        ("root".to_owned(), AnchorState::Truncated),
    ];
    assert_eq!(found(&other, &before, false), expected);
}

//! Cases: a delete removes a session and leaves the history of every other session complete.

use forklore_core::{Data, Tombstone};

use crate::events::{rich, turns, usage, user};
use crate::scene::{LONG, Scene, forward, id, label, refused};
use forklore_store::error::Error;
use forklore_store::port::{At, Change, Children, Filter, NewSession, Removed};

fn has_children(session: &str, children: &[&str]) -> Error {
    let children: Vec<_> = children.iter().map(|child| id(child)).collect();
    Error::HasChildren { session: id(session), count: children.len(), children }
}

pub(super) fn branch_children_refuse_it(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 2, vec![]);
    refused(scene.remove(&["a"], Children::Refuse), &has_children("a", &["b"]));
    assert_eq!(scene.texts("a"), ["q1", "a1", "q2", "a2"]);
    assert_eq!(scene.header("a").deleted, None);
}

pub(super) fn a_copied_child_refuses_it_too(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.copy("a", "b", 2, vec![]);
    scene.fork("a", "at_start", 0, vec![]);
    let Err(Error::HasChildren { count, mut children, .. }) =
        scene.remove(&["a"], Children::Refuse)
    else {
        panic!("two children refuse the delete")
    };
    children.sort();
    assert_eq!((count, children), (2, vec![id("at_start"), id("b")]));
}

pub(super) fn twenty_children_are_named_and_all_counted(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    for child in 0..23 {
        scene.fork("a", &format!("b{child}"), 1, vec![]);
    }
    let Err(Error::HasChildren { count, children, .. }) = scene.remove(&["a"], Children::Refuse)
    else {
        panic!("the children refuse the delete")
    };
    assert_eq!((count, children.len()), (23, 20));
}

pub(super) fn a_delegate_does_not_refuse_it(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.delegate("a", "d", 1, turns(1));
    let removed = scene.remove(&["a"], Children::Refuse).unwrap();
    assert_eq!(removed, Removed { deleted: vec![id("a")], retained_segments: 0 });
    assert_eq!(scene.texts("d"), ["session_fork", "q1", "a1"]);
}

pub(super) fn children_deleted_with_it_do_not_refuse_it(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 2, vec![]);
    scene.fork("b", "c", 2, vec![]);
    let removed = scene.remove(&["b", "a", "c"], Children::Refuse).unwrap();
    assert_eq!(removed, Removed { deleted: vec![id("b"), id("a"), id("c")], retained_segments: 0 });
    assert_eq!(scene.store().sessions(&Filter::default(), None, 0).unwrap().all().unwrap(), []);
}

pub(super) fn a_deleted_child_does_not_refuse_it(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 2, turns(1));
    scene.fork("b", "c", 4, turns(1));
    let before = scene.log("c");
    assert_eq!(scene.delete("b").retained_segments, 1);
    assert_eq!(scene.remove(&["a"], Children::Refuse).unwrap().retained_segments, 1);
    assert_eq!(scene.log("c"), before);
}

pub(super) fn children_and_grandchildren_load_afterwards(scene: &Scene<'_>) {
    super::read::three_generations(scene);
    scene.copy("b", "copied", 15, rich());
    let before = ["b", "c", "copied"].map(|session| (scene.log(session), scene.header(session)));
    scene.delete("a");
    let after = ["b", "c", "copied"].map(|session| (scene.log(session), scene.header(session)));
    assert_eq!(after, before);
    scene.delete("b");
    let after = ["c", "copied"].map(|session| (scene.log(session), scene.header(session)));
    assert_eq!(after, before[1..]);
    scene.assert_sound();
}

pub(super) fn survivors_go_on_as_before(scene: &Scene<'_>) {
    super::read::three_generations(scene);
    scene.delete("a");
    scene.delete("b");
    scene.append("c", turns(1));
    scene.fork("c", "d", 12, turns(1));
    scene.copy("c", "e", 20, turns(1));
    let shared: Vec<_> =
        scene.log("c")[1..=12].iter().map(|stored| stored.origin.clone()).collect();
    let inherited: Vec<_> =
        scene.log("d")[1..=12].iter().map(|stored| stored.origin.clone()).collect();
    assert_eq!(inherited, shared);
    assert_eq!((scene.header("d").root_id, scene.header("d").depth), (id("a"), 3));
    scene.assert_sound();
}

pub(super) fn a_tombstone_retains_its_lineage_and_cost(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    let new = NewSession {
        title: Some("secret".into()),
        metadata: Some(Data::parse("{}").unwrap()),
        config: Some(Data::parse("{}").unwrap()),
        ..scene.child_draft("a", "b", 3, Default::default(), vec![usage(7, 8)])
    };
    let living = scene.store().create(new).unwrap();
    let now = scene.clock.now();
    scene.store().remove(&[id("b")], Children::Refuse, now).unwrap();
    let stone = scene.header("b");
    assert_eq!(stone.deleted, Some(Tombstone { deleted: now, restorable: false }));
    let position = |header: &forklore_core::Header| {
        let lineage = (header.id.clone(), header.parent_id.clone(), header.root_id.clone());
        (
            lineage,
            header.kind,
            header.label.clone(),
            header.cut.clone(),
            header.inherited.inheritable,
            header.usage,
            header.depth,
        )
    };
    assert_eq!(position(&stone), position(&living));
    assert_eq!((stone.title, stone.metadata, stone.config, stone.lease), (None, None, None, None));
}

pub(super) fn a_deleted_session_answers_nothing(scene: &Scene<'_>) {
    scene.root("a", rich());
    scene.fork("a", "b", 5, vec![]);
    scene.delete("a");
    let deleted = Error::Deleted(id("a"));
    for at in [At::Seq(0), At::Inheritable(1), At::Index(0), At::Turn(1)] {
        refused(scene.store().read(&id("a"), &forward(at, 5, true)), &deleted);
    }
    refused(scene.store().change(&id("a"), &Change::Label(label("x"))), &deleted);
    refused(scene.store().change(&id("a"), &Change::Title(None)), &deleted);
    refused(scene.store().change(&id("a"), &Change::Detach), &deleted);
    refused(scene.hold("a", "run", LONG), &deleted);
}

pub(super) fn deleting_again_is_harmless(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 1, vec![]);
    scene.delete("b");
    let stone = scene.header("b");
    let removed = scene.remove(&["b", "a", "a"], Children::Refuse).unwrap();
    assert_eq!(removed, Removed { deleted: vec![id("a")], retained_segments: 0 });
    assert_eq!(scene.header("b"), stone);
    assert_eq!(scene.remove(&["a", "b"], Children::Refuse).unwrap(), Removed::default());
}

pub(super) fn one_refusal_leaves_all_of_them(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.root("z", turns(1));
    scene.fork("a", "b", 1, vec![]);
    refused(scene.remove(&["z", "a"], Children::Refuse), &has_children("a", &["b"]));
    refused(scene.remove(&["z", "nobody"], Children::Retain), &Error::NotFound(id("nobody")));
    assert_eq!(scene.texts("z"), ["q1", "a1"]);
    assert_eq!(scene.header("z").deleted, None);
}

pub(super) fn one_leased_session_refuses_the_whole_set(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 2, turns(1));
    scene.fork("b", "c", 4, vec![]);
    let all = ["c", "b", "a"];
    for leased in all {
        scene.hold(leased, "run1", LONG).unwrap();
        let before = all.map(|session| (scene.header(session), scene.log(session)));
        let error = Error::Leased { session: id(leased), owner: "run1".into() };
        refused(scene.remove(&all, Children::Refuse), &error);
        refused(scene.remove(&all, Children::Retain), &error);
        assert_eq!(all.map(|session| (scene.header(session), scene.log(session))), before);
        scene.change(leased, &Change::Release { owner: "run1".into() });
    }
    let removed = scene.remove(&all, Children::Refuse).unwrap();
    assert_eq!(removed, Removed { deleted: all.map(id).to_vec(), retained_segments: 0 });
}

pub(super) fn segments_that_others_need_are_counted(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 4, turns(1));
    scene.fork("b", "none_of_b", 2, vec![]);
    scene.fork("b", "all_of_b", 6, vec![]);
    scene.copy("b", "own_copy", 6, vec![]);
    assert_eq!(scene.delete("own_copy").retained_segments, 0);
    assert_eq!(scene.remove(&["a", "b"], Children::Retain).unwrap().retained_segments, 2);
    assert_eq!(scene.delete("all_of_b").retained_segments, 0);
    assert_eq!(scene.texts("none_of_b"), ["session_fork", "q1", "a1"]);
}

pub(super) fn a_copys_prefix_is_a_segment_of_its_own(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.copy("a", "b", 4, turns(1));
    scene.fork("b", "c", 3, vec![user("on")]);
    let before = scene.log("c");
    assert_eq!(scene.delete("a").retained_segments, 0);
    assert_eq!(scene.delete("b").retained_segments, 1);
    assert_eq!(scene.log("c"), before);
}

pub(super) fn a_chain_can_go_root_first(scene: &Scene<'_>) {
    scene.root("s0", turns(1));
    for depth in 1..30_u64 {
        let parent = format!("s{}", depth - 1);
        scene.fork(&parent, &format!("s{depth}"), depth + 1, vec![user("on")]);
    }
    let before = scene.log("s29");
    for depth in 0..29 {
        scene.delete(&format!("s{depth}"));
        assert_eq!(scene.log("s29"), before);
    }
    scene.assert_sound();
}

//! Tests of `delete` and `detach`.

use forklore_core::{ErrorKind, SessionKind};
use forklore_engine::{Delete, DeleteMode, Deleted, Error, Fork};

use crate::world::{World, id, on_every_store, refusal};

on_every_store!(
    delete_refuses_with_children,
    delete_with_detach_children_copies_nothing,
    context_usage_is_estimated_when_the_parent_that_counted_it_is_deleted,
    detach_in_the_middle_then_delete_the_root,
    a_cascade_lists_leaves_first_and_takes_what_an_earlier_one_left,
    a_cascade_deletes_nothing_while_one_of_its_sessions_runs_a_turn,
    a_delegate_with_branch_children_survives,
    tombstones_free_labels_but_not_ids,
    usage_of_deleted_sessions_still_counts,
    detach_changes_nothing_that_is_read,
    after_gc_everything_living_still_reads,
);

fn delete(world: &World, name: &str, mode: DeleteMode) -> Result<Deleted, Error> {
    world.engine.delete(&Delete { session: id(name), mode, dry_run: false, erase: true })
}

fn family(world: &World) {
    world.session("a", "u1 $ a1 w u2 a2");
    world.fork("a", "turn:1", "b");
    world.write("b", "u3 $ a3");
    world.fork("b", "", "c");
    world.write("c", "u4");
}

fn delete_refuses_with_children(world: &World) {
    family(world);
    let error = delete(world, "a", DeleteMode::Refuse).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::HasChildren);
    assert_eq!(
        error.details(),
        serde_json::json!({"session_id": "a", "children": ["b"], "count": 1})
    );
    let dry = Delete { session: id("a"), mode: DeleteMode::Refuse, dry_run: true, erase: true };
    assert_eq!(refusal(world.engine.delete(&dry)).0, ErrorKind::HasChildren);
    assert_eq!(world.shape("a"), "u1 $ a1 w u2 a2");
}

fn delete_with_detach_children_copies_nothing(world: &World) {
    family(world);
    let (b, c) = (world.printed("b"), world.printed("c"));
    let before = world.engine.stats(None).unwrap();
    let gone = delete(world, "a", DeleteMode::DetachChildren).unwrap();
    assert_eq!((gone.deleted, gone.retained_segments), (vec![id("a")], 1));
    let gone = delete(world, "b", DeleteMode::DetachChildren).unwrap();
    assert_eq!((gone.deleted, gone.retained_segments), (vec![id("b")], 1));
    assert_eq!(world.printed("c"), c);
    assert_eq!(refusal(world.engine.load(&id("b"))).0, ErrorKind::NotFound);
    assert!(b.lines().count() > 2);
    let after = world.engine.stats(None).unwrap();
    assert_eq!((after.sessions, after.own_events), (1, world.header("c").own_events));
    assert_eq!(after.usage, before.usage);
    assert_eq!(world.header("c").root_id, id("a"));
}

fn context_usage_is_estimated_when_the_parent_that_counted_it_is_deleted(world: &World) {
    family(world);
    let counted = world.engine.context_usage(&id("c")).unwrap();
    assert!(counted.tokens > counted.estimated, "{counted:?}");
    delete(world, "b", DeleteMode::DetachChildren).unwrap();
    let usage = world.engine.context_usage(&id("c")).unwrap();
    assert_eq!(usage.tokens, usage.estimated);
}

fn detach_in_the_middle_then_delete_the_root(world: &World) {
    family(world);
    let (b, c) = (world.printed("b"), world.printed("c"));
    assert_eq!(world.engine.detach(&id("b")).unwrap().copied_events, 3);
    delete(world, "a", DeleteMode::Refuse).unwrap();
    assert_eq!((world.printed("b"), world.printed("c")), (b, c));
    world.fork("c", "message:0", "e");
    assert_eq!(world.shape("e"), "F u1");
}

fn a_cascade_lists_leaves_first_and_takes_what_an_earlier_one_left(world: &World) {
    family(world);
    world.fork("a", "", "d");
    let ask =
        |dry_run| Delete { session: id("a"), mode: DeleteMode::Cascade, dry_run, erase: true };
    let plan = world.engine.delete(&ask(true)).unwrap();
    assert_eq!(plan.deleted.len(), 4);
    let at = |name: &str| plan.deleted.iter().position(|gone| *gone == id(name)).unwrap();
    assert!(at("c") < at("b") && at("b") < at("a") && at("d") < at("a"));
    // Meanwhile, somebody deleted one of the sessions of the plan.
    world
        .engine
        .store()
        .remove(&plan.deleted[..1], forklore_store::port::Children::Refuse, world.engine.now())
        .unwrap();
    let rest = world.engine.delete(&ask(false)).unwrap();
    assert_eq!(rest.deleted, plan.deleted[1..]);
    assert_eq!((rest.retained_segments, world.engine.stats(None).unwrap().sessions), (0, 0));
}

fn a_cascade_deletes_nothing_while_one_of_its_sessions_runs_a_turn(world: &World) {
    family(world);
    world.fork("a", "", "d");
    let all = || ["a", "b", "c", "d"].map(|name| (world.header(name), world.printed(name)));
    for running in ["a", "b", "c", "d"] {
        world.engine.take_lease(&id(running), "run1").unwrap();
        let before = all();
        for dry_run in [true, false] {
            let delete =
                Delete { session: id("a"), mode: DeleteMode::Cascade, dry_run, erase: true };
            let error = world.engine.delete(&delete).unwrap_err();
            assert_eq!(
                (error.kind(), error.details()["session_id"].as_str()),
                (ErrorKind::Busy, Some(running))
            );
            assert_eq!(all(), before);
        }
        world.engine.release(&id(running), "run1").unwrap();
    }
    let gone = delete(world, "a", DeleteMode::Cascade).unwrap();
    assert_eq!((gone.deleted.len(), gone.retained_segments), (4, 0));
}

fn a_delegate_with_branch_children_survives(world: &World) {
    world.session("p", "u1 a1");
    for name in ["lonely", "forked"] {
        let kind = SessionKind::Delegate;
        world.engine.fork(&Fork { kind, id: Some(id(name)), ..Fork::of(id("p")) }).unwrap();
        world.write(name, "u7 a7");
    }
    world.fork("forked", "", "child");
    let gone = delete(world, "p", DeleteMode::Refuse).unwrap().deleted;
    assert_eq!(gone, [id("lonely"), id("p")]);
    assert_eq!(world.shape("forked"), "F u7 a7");
    assert_eq!(world.shape("child"), "F u7 a7");
}

fn tombstones_free_labels_but_not_ids(world: &World) {
    world.session("p", "u1");
    let named = |name: &str| Fork {
        label: Some("idea".parse().unwrap()),
        id: Some(id(name)),
        ..Fork::of(id("p"))
    };
    world.engine.fork(&named("c")).unwrap();
    delete(world, "c", DeleteMode::Refuse).unwrap();
    assert_eq!(refusal(world.engine.fork(&named("c"))).0, ErrorKind::AlreadyExists);
    world.engine.fork(&named("d")).unwrap();
    let tombstone = world.engine.store().header(&id("c")).unwrap();
    assert_eq!((tombstone.parent_id, tombstone.inherited.inheritable), (Some(id("p")), 1));
    assert!(tombstone.deleted.is_some());
    assert_eq!(refusal(delete(world, "c", DeleteMode::Refuse)).0, ErrorKind::NotFound);
}

fn usage_of_deleted_sessions_still_counts(world: &World) {
    family(world);
    let before = world.engine.family_stats(&id("c")).unwrap().usage;
    assert_eq!(before.input, 20);
    delete(world, "a", DeleteMode::DetachChildren).unwrap();
    assert_eq!(world.engine.family_stats(&id("c")).unwrap().usage, before);
}

fn detach_changes_nothing_that_is_read(world: &World) {
    family(world);
    let read = |name: &str| {
        let mut header = world.header(name);
        header.detached = false;
        (header, world.printed(name), world.engine.inspect(&id(name)).unwrap())
    };
    let before = (read("b"), read("c"));
    world.engine.detach(&id("c")).unwrap();
    assert!(world.header("c").detached);
    assert_eq!((read("b"), read("c")), before);
    assert_eq!(world.engine.detach(&id("c")).unwrap().copied_events, 0);
    assert_eq!(world.engine.detach(&id("a")).unwrap().copied_events, 0);
}

fn after_gc_everything_living_still_reads(world: &World) {
    family(world);
    let c = world.printed("c");
    delete(world, "a", DeleteMode::DetachChildren).unwrap();
    delete(world, "b", DeleteMode::DetachChildren).unwrap();
    world.engine.gc().unwrap();
    assert_eq!(world.printed("c"), c);
    let report = world.engine.verify(None).unwrap();
    assert_eq!(report.problems, []);
}

//! Tests of the ids that forks get if the caller gives none.

use std::collections::HashSet;

use forklore_core::ErrorKind;
use forklore_core::limits::ID_BYTES;
use forklore_core::workspace::Workspace;
use forklore_engine::{Create, Fork, IdStyle};

use crate::world::{World, id, on_every_store, refusal};

on_every_store!(
    forks_of_one_millisecond_are_many_sessions,
    a_plan_names_an_id_that_is_free,
    ak_coder_ids_nest_to_any_depth,
    a_child_that_must_be_new_is_never_an_existing_one,
);

fn ak_coder(parent: &str) -> Fork {
    Fork { id_style: IdStyle::AkCoder, ..Fork::of(id(parent)) }
}

fn forks_of_one_millisecond_are_many_sessions(world: &World) {
    world.session("p", "u1 a1");
    // The test clock stands still.
    let made: Vec<_> = (0..20).map(|_| world.engine.fork(&ak_coder("p")).unwrap()).collect();
    assert!(made.iter().all(|forked| forked.recorded && !forked.existing));
    let ids: HashSet<_> = made.iter().map(|forked| forked.child_session_id.to_string()).collect();
    let expected: HashSet<_> =
        (0..20).map(|at| format!("fork-p-{}", 1_760_000_000_000_u64 + at)).collect();
    assert_eq!(ids, expected);
    for forked in made {
        world.write(forked.child_session_id.as_str(), "u2");
        assert_eq!(world.shape(forked.child_session_id.as_str()), "F u1 a1 u2");
    }
}

fn a_plan_names_an_id_that_is_free(world: &World) {
    world.session("p", "u1");
    let made = world.engine.fork(&ak_coder("p")).unwrap();
    let plan = world.engine.fork(&Fork { dry_run: true, ..ak_coder("p") }).unwrap();
    assert_ne!(plan.child_session_id, made.child_session_id);
    let apply = Fork { id: Some(plan.child_session_id), ..ak_coder("p") };
    assert!(world.engine.fork(&apply).unwrap().recorded);
}

fn ak_coder_ids_nest_to_any_depth(world: &World) {
    world.session("p", "u1");
    let mut parent = "p".to_owned();
    for depth in 1..=40 {
        let child = world.engine.fork(&ak_coder(&parent)).unwrap().child_session_id.to_string();
        assert!(child.len() <= ID_BYTES && child.starts_with("fork-"), "{depth}: {child}");
        parent = child;
    }
    assert_eq!(world.header(&parent).depth, 40);
    let longest = "x".repeat(ID_BYTES);
    world.session(&longest, "u1");
    let child = world.engine.fork(&ak_coder(&longest)).unwrap().child_session_id;
    // The beginning of sha256(235 times "x").
    assert_eq!(child.as_str(), "fork-7b03ee1bd62f2650-1760000000000");
}

fn a_child_that_must_be_new_is_never_an_existing_one(world: &World) {
    world.session("p", "u1");
    world.fork("p", "", "c");
    assert!(world.fork("p", "", "c").existing);
    for dry_run in [true, false] {
        let fork = Fork { id: Some(id("c")), must_be_new: true, dry_run, ..Fork::of(id("p")) };
        assert_eq!(refusal(world.engine.fork(&fork)).0, ErrorKind::AlreadyExists);
    }
    let delegate = Create {
        id: Some(id("c")),
        parent: Some(id("p")),
        ..Create::in_workspace(Workspace::new("/demo"))
    };
    assert_eq!(refusal(world.engine.create(&delegate)).0, ErrorKind::AlreadyExists);
}

//! Tests of the follower, which waits for changes of one session.

use crate::world::{World, id, on_every_store};

on_every_store!(
    a_follower_hears_of_its_session_and_of_no_other,
    a_follower_hears_that_its_session_was_deleted,
    a_follower_waits_for_the_next_commit,
);

fn a_follower_hears_of_its_session_and_of_no_other(world: &World) {
    world.session("p", "u1 a1");
    world.session("other", "u1");
    let mut follower = world.engine.follow(&id("p")).unwrap();
    world.write("other", "a1");
    world.write("p", "u2");
    let change = follower.next_change().unwrap();
    assert_eq!((change.session, change.head_seq, change.appended), (id("p"), 2, true));
    let child = world.fork("p", "", "c").child_session_id;
    let mut follower = world.engine.follow(&child).unwrap();
    world.write("p", "a2");
    world.engine.label(&child, &"renamed".parse().unwrap()).unwrap();
    let change = follower.next_change().unwrap();
    assert_eq!((change.session, change.appended, change.changed), (child, false, true));
}

fn a_follower_hears_that_its_session_was_deleted(world: &World) {
    world.session("p", "u1 a1");
    let mut follower = world.engine.follow(&id("p")).unwrap();
    let mode = forklore_engine::DeleteMode::Refuse;
    let gone = forklore_engine::Delete { session: id("p"), mode, dry_run: false, erase: true };
    world.engine.delete(&gone).unwrap();
    assert!(follower.next_change().unwrap().removed);
}

fn a_follower_waits_for_the_next_commit(world: &World) {
    world.session("p", "u1");
    let mut follower = world.engine.follow(&id("p")).unwrap();
    std::thread::scope(|threads| {
        let received = threads.spawn(move || follower.next_change().unwrap().head_seq);
        world.write("p", "a1");
        assert_eq!(received.join().unwrap(), 1);
    });
}

//! Cases: the feed of a store that is reopened or has several handles.

use forklore_store::Error;
use forklore_store::port::{Change, Since};

use super::following::{Follower, LONG, NO_TIME};
use crate::events::turns;
use crate::race::race;
use crate::scene::Scene;

pub(super) fn a_mark_outlives_the_closing_of_the_store(scene: &mut Scene<'_>) {
    scene.root("a", turns(1));
    scene.root("b", turns(1));
    let mut reader = Follower::from(Since::Beginning);
    reader.read(scene, 1, NO_TIME);
    for round in 0..3 {
        let mark = reader.stored();
        scene.reopen();
        scene.append("a", turns(1));
        scene.root(&format!("new-{round}"), turns(1));
        scene.reopen();
        let seen = std::mem::take(&mut reader.heads);
        reader = Follower::at(&mark);
        reader.heads = seen;
        reader.drain(scene, 1);
        reader.assert_complete(scene);
    }
}

pub(super) fn another_handle_goes_on_from_the_same_mark(scene: &mut Scene<'_>) {
    let other = Scene::sharing(scene);
    scene.root("a", turns(1));
    let mut reader = Follower::from(Since::Beginning);
    reader.drain(scene, 0);
    scene.append("a", turns(1));
    other.root("b", turns(1));
    scene.change("b", &Change::Title(Some("titled".into())));
    let mut elsewhere = Follower::at(&reader.stored());
    elsewhere.drain(&other, 0);
    reader.drain(scene, 0);
    assert_eq!(reader.heads, elsewhere.heads);
    reader.assert_complete(&other);
}

pub(super) fn a_wait_ends_with_a_commit_of_another_handle(scene: &mut Scene<'_>) {
    let other = Scene::sharing(scene);
    scene.root("a", vec![]);
    let mut reader = Follower::now(scene);
    for n in 0..20 {
        let append = || other.append("a", turns(1));
        let ((), appended) = race(|| reader.read(scene, 0, LONG), append);
        assert_eq!(reader.heads["a"], appended.head_seq, "round {n}");
    }
}

pub(super) fn writers_of_two_handles_leave_no_gap(scene: &mut Scene<'_>) {
    let other = Scene::sharing(scene);
    let mut reader = Follower::now(scene);
    for n in 0..10 {
        scene.root(&format!("a{n}"), turns(1));
        other.root(&format!("b{n}"), turns(1));
        other.append(&format!("a{n}"), turns(1));
        scene.append(&format!("b{}", n / 2), turns(1));
        reader.read(if n % 3 == 0 { scene } else { &other }, 2, NO_TIME);
    }
    reader.drain(&other, 2);
    reader.assert_complete(scene);
}

pub(super) fn a_feed_whose_store_is_deleted_ends(scene: &mut Scene<'_>) {
    scene.root("a", turns(1));
    let since = Follower::now(scene).position();
    let test_store = scene.take_test_store();
    let wait = || scene.store().changes(&since, 0, LONG);
    let (ended, ()) = race(wait, || drop(test_store));
    assert!(matches!(ended, Err(Error::StoreGone { .. })), "{ended:?}");
    let again = scene.store().changes(&Since::Beginning, 0, NO_TIME);
    assert!(matches!(again, Err(Error::StoreGone { .. })), "{again:?}");
}

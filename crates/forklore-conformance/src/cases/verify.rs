//! Cases: a verification reads all sessions, or the one that it names, and returns how many sessions
//! and events it has read.

use crate::events::{rich, turns};
use crate::scene::{Scene, id, refused};
use forklore_store::error::Error;
use forklore_store::port::Verification;

fn sound(sessions: u64, events: u64) -> Verification {
    Verification { sessions, events, ..Verification::default() }
}

pub(super) fn an_empty_store_is_sound(scene: &Scene<'_>) {
    assert_eq!(scene.store().verify(None).unwrap(), sound(0, 0));
}

pub(super) fn shared_events_count_once(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 4, turns(1));
    scene.fork("b", "c", 6, vec![]);
    assert_eq!(scene.store().verify(None).unwrap(), sound(3, 4 + 3 + 1));
}

pub(super) fn copied_events_count_again(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.copy("a", "b", 3, vec![]);
    scene.fork("a", "c", 2, vec![]);
    scene.detach("c");
    assert_eq!(scene.store().verify(None).unwrap(), sound(3, 4 + (1 + 3) + (1 + 2)));
}

pub(super) fn one_session_is_read_whole(scene: &Scene<'_>) {
    scene.root("a", rich());
    scene.fork("a", "b", 12, turns(1));
    assert_eq!(scene.store().verify(Some(&id("b"))).unwrap(), sound(1, 15));
    assert_eq!(scene.store().verify(Some(&id("a"))).unwrap(), sound(1, 15));
}

pub(super) fn nobody_cannot_be_verified(scene: &Scene<'_>) {
    refused(scene.store().verify(Some(&id("a"))), &Error::NotFound(id("a")));
}

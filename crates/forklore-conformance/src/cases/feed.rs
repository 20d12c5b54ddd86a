//! Cases: the feed reports the sessions that changed after a mark.

use forklore_core::Strategy;
use forklore_store::Error;
use forklore_store::port::{Change, Children, Mark, Since};

use super::following::{Follower, LONG, NO_TIME, SHORT};
use crate::events::{turns, user};
use crate::race::race;
use crate::scene::{self, Scene, id, label};

pub(super) fn a_reader_that_begins_gets_every_living_session_once(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 2, turns(1));
    scene.root("gone", turns(1));
    scene.append("a", turns(1));
    scene.delete("gone");
    let mut reader = Follower::from(Since::Beginning);
    assert_eq!(reader.ids(scene, 0), ["a", "b"]);
    assert_eq!(reader.heads["a"], scene.header("a").head_seq());
    assert!(reader.last.iter().all(|change| change.created && !change.removed));
    assert_eq!(reader.ids(scene, 0), <[&str; 0]>::default());
}

pub(super) fn a_mark_of_now_shows_nothing_that_was_before(scene: &Scene<'_>) {
    let mut empty = Follower::now(scene);
    scene.root("a", turns(1));
    let mut reader = Follower::now(scene);
    assert_eq!(reader.ids(scene, 0), <[&str; 0]>::default());
    scene.append("a", turns(1));
    assert_eq!((reader.ids(scene, 0), empty.ids(scene, 0)), (vec!["a".into()], vec!["a".into()]));
}

pub(super) fn each_write_is_reported_as_what_it_was(scene: &Scene<'_>) {
    let mut reader = Follower::now(scene);
    let mut flags = || {
        reader.read(scene, 0, NO_TIME);
        let [one] = reader.last.as_slice() else { panic!("{:?}", reader.last) };
        (one.created, one.appended, one.changed, one.removed, one.head_seq)
    };
    scene.root("a", vec![]);
    assert_eq!(flags(), (true, false, false, false, -1));
    scene.append("a", turns(1));
    assert_eq!(flags(), (false, true, false, false, 1));
    scene.change("a", &Change::Title(Some("titled".into())));
    assert_eq!(flags(), (false, false, true, false, 1));
    scene.delete("a");
    let (.., removed, _) = flags();
    assert!(removed);
}

pub(super) fn many_commits_of_a_session_come_as_one_change(scene: &Scene<'_>) {
    let mut reader = Follower::now(scene);
    scene.root("a", vec![]);
    for _ in 0..30 {
        scene.append("a", turns(1));
    }
    scene.change("a", &Change::Title(Some("titled".into())));
    assert_eq!(reader.ids(scene, 0), ["a"]);
    let one = &reader.last[0];
    assert!(one.created && one.appended && one.changed && !one.removed);
    assert_eq!(one.head_seq, 59);
}

pub(super) fn sessions_come_in_the_order_of_their_last_commits(scene: &Scene<'_>) {
    let mut reader = Follower::now(scene);
    for session in ["a", "b", "c"] {
        scene.root(session, vec![]);
    }
    scene.append("a", turns(1));
    scene.change("b", &Change::Title(Some("titled".into())));
    assert_eq!(reader.ids(scene, 0), ["c", "a", "b"]);
    scene.append("c", turns(1));
    scene.append("a", turns(1));
    assert_eq!(reader.ids(scene, 0), ["c", "a"]);
}

pub(super) fn pages_of_any_size_lead_through_every_change(scene: &Scene<'_>) {
    let names: Vec<_> = (0..20).map(|n| format!("s{n:02}")).collect();
    let behind = Follower::now(scene).position();
    names.iter().for_each(|name| drop(scene.root(name, turns(1))));
    for (from, limit) in [(Since::Beginning, 1), (Since::Beginning, 7), (behind.clone(), 1)]
        .into_iter()
        .chain([(behind.clone(), 7), (behind.clone(), 20), (behind, 100)])
    {
        let mut reader = Follower::from(from);
        let mut all = Vec::new();
        loop {
            let page = reader.ids(scene, limit);
            assert!(page.len() <= limit, "a page holds at most its limit");
            all.extend(page);
            if !reader.more {
                break;
            }
        }
        all.sort();
        assert_eq!(all, names, "pages of {limit}");
    }
}

pub(super) fn what_is_written_between_two_pages_is_not_left_out(scene: &Scene<'_>) {
    for session in ["a", "b", "c", "d"] {
        scene.root(session, turns(1));
    }
    for from in [Since::Beginning, Follower::now(scene).position()] {
        for session in ["a", "b", "c", "d"] {
            scene.append(session, turns(1));
        }
        let mut reader = Follower::from(from);
        reader.read(scene, 2, NO_TIME);
        let seen = reader.last[0].session.to_string();
        for session in [seen.as_str(), "d", "a"] {
            scene.append(session, turns(1));
        }
        let late = format!("late-{}", scene.clock.now().as_millisecond());
        scene.root(&late, turns(1));
        reader.drain(scene, 2);
        reader.assert_up_to_date(scene);
    }
}

pub(super) fn a_session_made_while_a_reader_turns_pages_is_reported_as_made(scene: &Scene<'_>) {
    let mut reader = Follower::now(scene);
    for session in ["a", "b", "c"] {
        scene.root(session, vec![]);
    }
    reader.read(scene, 1, NO_TIME);
    assert_eq!(reader.last[0].session, id("a"));
    scene.append("b", turns(1));
    reader.read(scene, 0, NO_TIME);
    let b = reader.last.iter().find(|change| change.session == id("b")).unwrap();
    assert!(b.created, "nobody has shown it to the reader");
}

pub(super) fn a_fork_is_reported_and_its_parent_is_not(scene: &Scene<'_>) {
    scene.root("a", turns(3));
    let mut reader = Follower::now(scene);
    scene.fork("a", "shared", 2, turns(1));
    scene.copy("a", "copied", 4, vec![]);
    scene.delegate("shared", "delegate", 1, turns(1));
    assert_eq!(reader.ids(scene, 0), ["shared", "copied", "delegate"]);
    assert!(reader.last.iter().all(|change| change.created));
    assert_eq!(reader.heads["shared"], scene.header("shared").head_seq());
}

pub(super) fn labels_titles_leases_and_detaches_are_changes(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 2, vec![]);
    let mut reader = Follower::now(scene);
    let mut changed = || {
        reader.read(scene, 0, NO_TIME);
        let changed = reader.last.iter().all(|one| one.changed && !one.created && !one.appended);
        (reader.last.len(), changed)
    };
    scene.change("b", &Change::Label(label("renamed")));
    assert_eq!(changed(), (1, true));
    scene.change("a", &Change::Leaf(Some(id("b"))));
    assert_eq!(changed(), (1, true));
    scene.hold("b", "run", scene::LONG).unwrap();
    assert_eq!(changed(), (1, true));
    scene.change("b", &Change::Release { owner: "run".into() });
    assert_eq!(changed(), (1, true));
    scene.detach("b");
    assert_eq!(changed(), (1, true));
}

pub(super) fn deletes_and_a_gc_are_seen_after_a_long_absence(scene: &Scene<'_>) {
    scene.root("a", turns(3));
    scene.fork("a", "b", 2, turns(1));
    scene.root("c", turns(1));
    let mut reader = Follower::now(scene);
    for n in 0..50 {
        scene.root(&format!("s{n}"), turns(1));
        scene.append("c", turns(1));
    }
    scene.delete("a");
    let some: Vec<_> = (0..25).map(|n| format!("s{n}")).collect();
    let some: Vec<_> = some.iter().map(String::as_str).collect();
    scene.remove(&some, Children::Retain).unwrap();
    scene.collect();
    scene.pack();
    reader.drain(scene, 10);
    reader.assert_up_to_date(scene);
    for gone in some.into_iter().chain(["a"]) {
        assert!(reader.removed.contains(gone), "{gone} is gone, and the reader does not know");
    }
    assert!(!reader.heads.contains_key("b"), "nothing was done to it");
}

pub(super) fn a_refused_write_is_not_reported_as_done(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.root("b", turns(1));
    let mut reader = Follower::now(scene);
    let mut late = scene.appending(turns(1));
    late.expect = Some(0);
    scene.store().append(&id("a"), late).unwrap_err();
    let twice = scene.draft("b", vec![]);
    scene.store().create(twice).unwrap_err();
    scene.store().change(&id("a"), &Change::Release { owner: "x".into() }).unwrap_err();
    let nowhere = scene.child_draft("a", "child", 99, Strategy::ShareV1, vec![]);
    scene.store().create(nowhere).unwrap_err();
    assert_eq!(reader.ids(scene, 0), <[&str; 0]>::default());
}

pub(super) fn a_mark_of_another_store_is_refused(scene: &Scene<'_>) {
    let other = Scene::new(scene.factory);
    other.root("a", turns(1));
    scene.root("a", turns(1));
    for from in [Since::Now, Since::Beginning] {
        let foreign = other.store().changes(&from, 0, NO_TIME).unwrap().mark;
        let refused = scene.store().changes(&Since::Mark(foreign.clone()), 0, NO_TIME);
        assert!(matches!(refused, Err(Error::ForeignMark(mark)) if mark == foreign));
    }
    for text in ["", "17", "\u{1b}[2J", "f1:::", "ffff"] {
        let refused = scene.store().changes(&Since::Mark(Mark::new(text)), 0, NO_TIME);
        assert!(matches!(refused, Err(Error::ForeignMark(_))), "{text:?}");
    }
}

pub(super) fn a_wait_that_is_over_comes_back_empty(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let mut reader = Follower::now(scene);
    reader.read(scene, 0, SHORT);
    assert_eq!((reader.last.len(), reader.more), (0, false));
    reader.read(scene, 0, SHORT);
    assert_eq!((reader.last.len(), reader.more), (0, false));
    scene.append("a", turns(1));
    assert_eq!(reader.ids(scene, 0), ["a"]);
}

pub(super) fn a_wait_ends_with_the_next_commit(scene: &Scene<'_>) {
    scene.root("a", vec![]);
    let mut reader = Follower::now(scene);
    for n in 0..20 {
        let read = || reader.read(scene, 0, LONG);
        let ((), appended) = race(read, || scene.append("a", turns(1)));
        assert_eq!(reader.heads["a"], appended.head_seq, "round {n}");
    }
}

pub(super) fn eight_writers_are_seen_each_in_its_order(scene: &Scene<'_>) {
    const EACH: usize = 25;
    (0..8).for_each(|n| drop(scene.root(&format!("s{n}"), vec![])));
    let mut reader = Follower::now(scene);
    std::thread::scope(|threads| {
        for n in 0..8 {
            let scene = &*scene;
            threads.spawn(move || {
                for text in 0..EACH {
                    scene.append(&format!("s{n}"), vec![user(&text.to_string())]);
                }
            });
        }
        let all = |reader: &Follower| {
            let done = reader.heads.values().filter(|head| **head == EACH as i64 - 1);
            done.count() == 8
        };
        while !all(&reader) {
            // `read` panics if the reported head of a session decreases. An empty page means that
            // the feed did not report a commit.
            reader.read(scene, 3, LONG);
            assert!(!reader.last.is_empty(), "{:?}", reader.heads);
        }
    });
    reader.drain(scene, 3);
    reader.assert_up_to_date(scene);
}

//! Cases: two concurrent operations have one consistent outcome, and each caller gets the result
//! that fits this outcome.

use std::sync::atomic::{AtomicBool, Ordering};

use forklore_core::Strategy;

use crate::events::{turns, usage, user};
use crate::race::race;
use crate::scene::{LONG, Scene, id, label};
use forklore_store::error::{Error, Result};
use forklore_store::port::{Append, Change, Children};

const ROUNDS: usize = 20;

/// Splits the results of two calls into the value of the successful one and the error of the failed
/// one. Panics unless exactly one call succeeded.
fn one_winner<T: std::fmt::Debug>(results: (Result<T>, Result<T>)) -> (T, Error) {
    match results {
        (Ok(won), Err(reported)) | (Err(reported), Ok(won)) => (won, reported),
        both => panic!("not one winner and one loser: {both:?}"),
    }
}

pub(super) fn of_two_appends_at_one_head_one_wins(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    for round in 0..ROUNDS {
        let expect = scene.header("a").head_seq();
        let batch = |name: &str| Append {
            expect: Some(expect),
            ..scene.appending(vec![user(name), user(name)])
        };
        let (one, two) = (batch("one"), batch("two"));
        let (won, reported) = one_winner(race(
            || scene.store().append(&id("a"), one),
            || scene.store().append(&id("a"), two),
        ));
        assert_eq!(won.head_seq, expect + 2);
        let conflict = Error::Conflict { session: id("a"), expected: expect, head: expect + 2 };
        assert_eq!(format!("{reported:?}"), format!("{conflict:?}"), "round {round}");
        let last = scene.texts("a").split_off(usize::try_from(expect + 1).unwrap());
        assert!(last == ["one", "one"] || last == ["two", "two"], "interleaved: {last:?}");
    }
}

pub(super) fn appends_without_expectation_are_all_there(scene: &Scene<'_>) {
    scene.root("a", vec![]);
    let writes = |name: &str| {
        (0..50)
            .map(|number| {
                scene.append("a", vec![user(&format!("{name}{number}")), usage(1, 0)]).from_seq
            })
            .collect::<Vec<_>>()
    };
    let (mut seqs, more) = race(|| writes("one"), || writes("two"));
    seqs.extend(more);
    seqs.sort_unstable();
    assert_eq!(seqs, (0..200).step_by(2).collect::<Vec<_>>());
    let texts = scene.texts("a");
    for name in ["one", "two"] {
        let own: Vec<_> = texts.iter().filter(|text| text.starts_with(name)).cloned().collect();
        assert_eq!(own, (0..50).map(|number| format!("{name}{number}")).collect::<Vec<_>>());
    }
    assert_eq!(scene.header("a").usage.input, 100);
}

pub(super) fn of_two_equal_appends_one_is_the_repetition(scene: &Scene<'_>) {
    scene.root("a", vec![]);
    for _ in 0..ROUNDS {
        let expect = scene.header("a").head_seq();
        let append = Append { expect: Some(expect), ..scene.appending(turns(1)) };
        let (one, two) = race(
            || scene.store().append(&id("a"), append.clone()).unwrap(),
            || scene.store().append(&id("a"), append.clone()).unwrap(),
        );
        assert_eq!((one.from_seq, one.to_seq), (two.from_seq, two.to_seq));
        assert_ne!(one.repeated, two.repeated);
        assert_eq!(scene.header("a").head_seq(), expect + 2);
    }
}

pub(super) fn of_two_creates_of_one_id_one_wins(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    for round in 0..ROUNDS {
        let name = format!("child-{round}");
        let one = scene.child_draft("a", &name, 2, Strategy::ShareV1, vec![user("one")]);
        let two =
            scene.child_draft("a", &name.to_uppercase(), 3, Strategy::ReplayV1, vec![user("two")]);
        let (won, reported) =
            one_winner(race(|| scene.store().create(one), || scene.store().create(two)));
        assert!(matches!(reported, Error::IdInUse(_)), "{reported:?}");
        let text = if won.inherited.inheritable == 2 { "one" } else { "two" };
        assert_eq!(scene.texts(won.id.as_str()).pop().unwrap(), text);
    }
}

pub(super) fn of_two_equal_labels_one_wins(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 1, vec![]);
    scene.fork("a", "c", 1, vec![]);
    for round in 0..ROUNDS {
        let name = label(&format!("name-{round}"));
        let give = |session: &str| {
            let changed = scene.store().change(&id(session), &Change::Label(name.clone()));
            changed.map(|changed| changed.header.id)
        };
        let (won, reported) = one_winner(race(|| give("b"), || give("c")));
        let in_use = Error::LabelInUse { label: name.clone(), by: won.clone() };
        assert_eq!(format!("{reported:?}"), format!("{in_use:?}"));
        assert_eq!(scene.header(won.as_str()).label, name);
    }
}

pub(super) fn of_two_runtimes_one_gets_the_lease(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    for _ in 0..ROUNDS {
        let hold = |owner: &str| scene.hold("a", owner, LONG);
        let (won, reported) = one_winner(race(|| hold("one"), || hold("two")));
        let owner = won.header.lease.unwrap().owner;
        let leased = Error::Leased { session: id("a"), owner: owner.clone() };
        assert_eq!(format!("{reported:?}"), format!("{leased:?}"));
        scene.change("a", &Change::Release { owner });
    }
}

pub(super) fn a_fork_and_a_delete_of_its_parent(scene: &Scene<'_>) {
    for round in 0..ROUNDS {
        let (parent, child) = (format!("parent-{round}"), format!("child-{round}"));
        scene.root(&parent, turns(3));
        let new = scene.child_draft(&parent, &child, 4, Strategy::ShareV1, vec![]);
        let (forked, deleted) =
            race(|| scene.store().create(new), || scene.remove(&[&parent], Children::Refuse));
        match (forked, deleted) {
            (Ok(_), Err(Error::HasChildren { .. })) => {
                assert_eq!(scene.texts(&parent).len(), 6);
                assert_eq!(scene.texts(&child), ["session_fork", "q1", "a1", "q2", "a2"]);
            }
            (Err(Error::Deleted(_)), Ok(_)) => {
                assert!(matches!(scene.store().header(&id(&child)), Err(Error::NotFound(_))));
            }
            both => panic!("round {round}: {both:?}"),
        }
    }
    scene.assert_sound();
}

pub(super) fn a_fork_and_a_delete_that_keeps_children(scene: &Scene<'_>) {
    for round in 0..ROUNDS {
        let (parent, child) = (format!("parent-{round}"), format!("child-{round}"));
        scene.root(&parent, turns(3));
        let new = scene.child_draft(&parent, &child, 4, Strategy::ShareV1, vec![]);
        let (forked, deleted) =
            race(|| scene.store().create(new), || scene.remove(&[&parent], Children::Retain));
        let retained = deleted.unwrap().retained_segments;
        match forked {
            Ok(_) => {
                assert_eq!(retained, 1);
                assert_eq!(scene.texts(&child), ["session_fork", "q1", "a1", "q2", "a2"]);
            }
            Err(reported) => assert!(matches!(reported, Error::Deleted(_)), "{reported:?}"),
        }
    }
    scene.assert_sound();
}

pub(super) fn an_append_during_a_detach(scene: &Scene<'_>) {
    scene.root("a", turns(200));
    for round in 0..ROUNDS {
        let child = format!("child-{round}");
        scene.fork("a", &child, 400, vec![]);
        let append = scene.appending(turns(2));
        let (detached, appended) =
            race(|| scene.detach(&child), || scene.store().append(&id(&child), append).unwrap());
        assert_eq!((detached.copied_events, appended.from_seq), (400, 401));
        let log = scene.log(&child);
        assert!((0..).zip(&log).all(|(seq, stored)| stored.seq == seq));
        assert_eq!((log.len(), scene.header(&child).detached), (405, true));
    }
    scene.assert_sound();
}

pub(super) fn a_detach_and_a_delete_of_the_parent(scene: &Scene<'_>) {
    for round in 0..ROUNDS {
        let (parent, child) = (format!("parent-{round}"), format!("child-{round}"));
        scene.root(&parent, turns(20));
        scene.fork(&parent, &child, 40, vec![]);
        let before = scene.log(&child);
        let (_, deleted) =
            race(|| scene.detach(&child), || scene.remove(&[&parent], Children::Refuse));
        match deleted {
            Ok(removed) => assert_eq!(removed.retained_segments, 0),
            Err(reported) => {
                assert!(matches!(reported, Error::HasChildren { count: 1, .. }), "{reported:?}");
            }
        }
        assert_eq!(scene.log(&child), before);
    }
}

pub(super) fn a_detach_and_a_delete_of_the_same(scene: &Scene<'_>) {
    scene.root("parent", turns(20));
    for round in 0..ROUNDS {
        let child = format!("child-{round}");
        // The child already has a copied prefix. Its detach therefore has nothing to copy, and only
        // its commit can detect the delete.
        scene.copy("parent", &child, 40, vec![]);
        let (detached, deleted) = race(
            || scene.store().change(&id(&child), &Change::Detach),
            || scene.remove(&[&child], Children::Refuse),
        );
        assert_eq!(deleted.unwrap().deleted, [id(&child)]);
        match detached {
            Ok(changed) => assert_eq!(changed.header.deleted, None),
            Err(reported) => assert!(matches!(reported, Error::Deleted(_)), "{reported:?}"),
        }
    }
}

pub(super) fn an_append_and_a_delete(scene: &Scene<'_>) {
    for round in 0..ROUNDS {
        let session = format!("s{round}");
        scene.root(&session, turns(1));
        let append = scene.appending(turns(1));
        let (appended, deleted) = race(
            || scene.store().append(&id(&session), append),
            || scene.remove(&[&session], Children::Refuse),
        );
        assert_eq!(deleted.unwrap().deleted, [id(&session)]);
        match appended {
            Ok(appended) => assert_eq!(appended.head_seq, 3),
            Err(reported) => assert!(matches!(reported, Error::Deleted(_)), "{reported:?}"),
        }
        assert!(scene.header(&session).deleted.is_some());
    }
}

pub(super) fn readers_see_whole_batches(scene: &Scene<'_>) {
    scene.root("a", vec![]);
    let done = AtomicBool::new(false);
    let (_, torn) = race(
        || {
            for _ in 0..100 {
                scene.append("a", turns(5));
            }
            done.store(true, Ordering::Release);
        },
        || {
            let mut torn = Vec::new();
            while !done.load(Ordering::Acquire) {
                let head = scene.header("a").head_seq() + 1;
                let page = scene.page("a", forklore_store::port::At::Seq(0), 100_000);
                let seen = i64::try_from(page.events.len()).unwrap();
                let whole = page.more || (seen % 10 == 0 && seen >= head);
                if head % 10 != 0 || !whole {
                    torn.push((head, seen));
                }
            }
            torn
        },
    );
    assert_eq!(torn, []);
    assert_eq!(scene.header("a").head_seq(), 999);
}

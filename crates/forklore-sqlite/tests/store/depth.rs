//! Tests of deep histories: ancestry pages and their jump links, and how much a fork writes.

use std::sync::Arc;

use forklore_conformance::Scene;
use forklore_conformance::events::{asks, result, turns, usage, user};
use forklore_core::{Origin, Strategy};
use forklore_sqlite::{Checkpoints, Options, SqliteStore};
use forklore_store::port::{At, Children, Direction, LogEntry, Query};
use jiff::SignedDuration;

use crate::scratch::{Scratch, handle};

const DEPTH: usize = 1_000;

/// The expected history of the last fork in a chain: the origins of its inheritable events, and its
/// whole log.
struct Plain {
    inheritable: Vec<Origin>,
    log: Vec<LogEntry>,
}

/// Creates a chain of forks. Each has its cut at the end of its parent. Most have events of their
/// own.
fn chain(scene: &Scene<'_>) -> Plain {
    let own = |n: usize| match n % 4 {
        0 => turns(1),
        1 => vec![usage(1, 1), user("on")],
        2 => vec![asks(&[(&format!("c{n}"), "read")]), result(&format!("c{n}"), "done")],
        _ => vec![],
    };
    let mut plain = Plain { inheritable: Vec::new(), log: Vec::new() };
    scene.root("s0", turns(2));
    plain.extend(scene.log("s0"));
    for n in 1..=DEPTH {
        let name = format!("s{n}");
        let inheritable = plain.inheritable.len() as u64;
        scene.fork(&format!("s{}", n - 1), &name, inheritable, own(n));
        let tail = scene.page(&name, At::Seq(inheritable + 1), 10).events;
        if n % 100 == 0 {
            plain.assert_before(&tail, &scene.log(&name));
        }
        plain.extend(tail);
    }
    plain.log = scene.log(&format!("s{DEPTH}"));
    plain
}

impl Plain {
    fn extend(&mut self, events: Vec<LogEntry>) {
        let inheritable = events.into_iter().filter(|one| one.event.class.is_inherited());
        self.inheritable.extend(inheritable.map(|one| one.origin));
    }

    fn assert_before(&self, tail: &[LogEntry], log: &[LogEntry]) {
        let inheritable = self.inheritable.len();
        assert!(log[1..=inheritable].iter().map(|one| &one.origin).eq(&self.inheritable));
        assert_eq!(&log[inheritable + 1..], tail);
    }
}

#[test]
fn a_chain_of_a_thousand_forks_reads_like_a_plain_list() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    let Plain { inheritable, log } = chain(&scene);
    let pages = "SELECT count(*) FROM ancestry_page";
    let pages: i64 = scratch.sqlite().query_row(pages, [], |row| row.get(0)).unwrap();
    // A fork that wrote only its `session_fork` adds no span, so the history has 750 spans.
    assert_eq!(pages, 46);
    let name = format!("s{DEPTH}");
    assert!(log.iter().map(|one| one.seq).eq(0..log.len() as u64));
    for stored in log.iter().step_by(7) {
        let at = At::Seq(stored.seq);
        let query = Query { at, direction: Direction::Backward, limit: 2, bare: false };
        let page = scene.store().read(&name.parse().unwrap(), &query).unwrap().events;
        let seq = usize::try_from(stored.seq).unwrap();
        let expected: Vec<_> = log[seq.saturating_sub(1)..=seq].iter().rev().cloned().collect();
        assert_eq!(page, expected);
    }
    for count in [1, 2, 17, 300, 301, 302, 777, inheritable.len()] {
        let expected = &inheritable[..count];
        for (strategy, word) in [(Strategy::ShareV1, "share"), (Strategy::ReplayV1, "copy")] {
            let child = format!("{word}-{count}");
            let new = scene.child_draft(&name, &child, count as u64, strategy, vec![]);
            scene.store().create(new).unwrap();
            let log = scene.log(&child).split_off(1);
            assert!(log.iter().map(|one| &one.origin).eq(expected), "{child}");
        }
        assert_eq!(
            scene.log(&format!("share-{count}")).split_off(1),
            scene.log(&format!("copy-{count}")).split_off(1)
        );
    }
    scene.assert_sound();
}

#[test]
fn a_chain_that_was_joined_is_one_piece_for_all_that_build_on_it() {
    let scratch = Scratch::new();
    // With `in_step`, the store does not pack in the background.
    let checkpoints = Checkpoints { in_step: true, ..Checkpoints::default() };
    let options = Options { checkpoints, ..Options::default() };
    let store = Arc::new(SqliteStore::open(&scratch.file(), options).unwrap());
    let make = || handle(&store);
    let scene = Scene::new(&make);
    let Plain { inheritable, log } = chain(&scene);
    let names = [DEPTH, 700, 40, 3].map(|depth| format!("s{depth}"));
    let before = names.each_ref().map(|name| scene.log(name));
    assert_eq!(before[0], log);
    // A branch of the chain's middle, deep enough to have ancestry pages of its own.
    scene.fork("s500", "b0", 600, turns(1));
    for n in 1..40 {
        scene.fork(&format!("b{}", n - 1), &format!("b{n}"), 600 + 2 * n, turns(1));
    }
    let branch = scene.log("b39");
    let cold = scene.clock.now() - SignedDuration::from_hours(1);
    let packed = scene.store().pack(cold).unwrap();
    assert_eq!((packed.events, packed.histories), (0, 1));
    assert_eq!(names.each_ref().map(|name| scene.log(name)), before);
    assert_eq!(scene.log("b39"), branch);
    let joined = "SELECT count(*) FROM ancestry_page WHERE prev IS NULL";
    let joined: i64 = scratch.sqlite().query_row(joined, [], |row| row.get(0)).unwrap();
    assert_eq!(joined, 46);
    scene.assert_sound();
    // Check forks that are created after the joining, one of them with a cut far back. Then delete
    // the original sessions and check again.
    for (child, stored) in [("far", 5), ("near", inheritable.len() as u64)] {
        scene.fork(&names[0], child, stored, turns(1));
        let inherited = scene.log(child).split_off(1);
        let origins = inherited.iter().map(|one| &one.origin);
        assert!(origins.take(stored as usize).eq(&inheritable[..stored as usize]), "{child}");
    }
    let near = scene.log("near");
    let gone: Vec<_> = (0..DEPTH).map(|depth| format!("s{depth}")).collect();
    let gone: Vec<_> = gone.iter().map(String::as_str).collect();
    scene.remove(&gone, Children::Retain).unwrap();
    scene.store().gc().unwrap();
    assert_eq!(scene.log("near"), near);
    assert_eq!(scene.log("b39"), branch);
    assert_eq!(scene.log(&names[0]), log);
    assert_eq!(scene.store().pack(cold).unwrap().histories, 0);
    scene.assert_sound();
}

#[test]
fn a_fork_writes_less_than_a_kilobyte_at_any_depth() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("s0", turns(2));
    let mut most = 0;
    for n in 1..200 {
        let parent = format!("s{}", n - 1);
        let inheritable = scene.header(&parent).counts.inheritable;
        let new =
            scene.child_draft(&parent, &format!("s{n}"), inheritable, Strategy::ShareV1, vec![]);
        let before = store.bound_bytes();
        scene.store().create(new).unwrap();
        most = most.max(store.bound_bytes() - before);
        scene.append(&format!("s{n}"), turns(1));
    }
    assert!((200..1_024).contains(&most), "{most} bytes");
}

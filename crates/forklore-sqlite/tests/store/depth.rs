//! Deep histories: pages of spans and their jumps, and what a fork writes.

use forklore_model::{Origin, Strategy};
use forklore_store::conformance::Scene;
use forklore_store::conformance::events::{asks, result, turns, usage, user};
use forklore_store::port::{At, Direction, Query};

use crate::place::{Place, handle};

const DEPTH: usize = 1_000;

/// A chain of forks, each at its parent's end, each with some events of its own.
fn chain(scene: &Scene<'_>) -> Vec<Vec<(u64, Origin)>> {
    let own = |n: usize| match n % 4 {
        0 => turns(1),
        1 => vec![usage(1, 1), user("on")],
        2 => vec![
            asks(&[(&format!("c{n}"), "read")]),
            result(&format!("c{n}"), "done"),
        ],
        _ => vec![],
    };
    let mut logs = Vec::new();
    scene.root("s0", turns(2));
    for n in 0..=DEPTH {
        let name = format!("s{n}");
        if n > 0 {
            let parent = format!("s{}", n - 1);
            let kept = scene.header(&parent).counts.kept;
            scene.fork(&parent, &name, kept, own(n));
        }
        logs.push(
            scene
                .log(&name)
                .iter()
                .map(|one| (one.seq, one.origin.clone()))
                .collect(),
        );
    }
    logs
}

#[test]
fn a_chain_of_a_thousand_forks_reads_like_a_plain_list() {
    let place = Place::new();
    let store = place.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    let logs = chain(&scene);
    let pages: i64 = place
        .sqlite()
        .query_row("SELECT count(*) FROM ancestry_page", [], |row| row.get(0))
        .unwrap();
    // Forks that wrote nothing but their session_fork add no span.
    assert_eq!(pages, 46);
    // Each log is its parent's, renumbered, and its own events.
    for pair in logs.windows(2) {
        let kept = |log: &[(u64, Origin)]| {
            log.iter()
                .skip(1)
                .map(|one| one.1.clone())
                .collect::<Vec<_>>()
        };
        let (before, after) = (kept(&pair[0]), kept(&pair[1]));
        assert!(after.starts_with(&before[..before.len().min(3)]));
        assert!(after.len() + 1 >= before.len());
    }
    let name = format!("s{DEPTH}");
    let whole = scene.log(&name);
    assert!(whole.iter().map(|one| one.seq).eq(0..whole.len() as u64));
    let mut places = Vec::new();
    for stored in whole.iter().step_by(7) {
        let at = At::Seq(stored.seq);
        let backward = Query {
            at,
            direction: Direction::Backward,
            limit: 1,
            bare: false,
        };
        places.extend(scene.pages(&name, &backward).into_iter().take(1));
    }
    assert!(places.iter().eq(whole.iter().step_by(7)));
    for kept in [1, 2, 17, 300, 301, 302, 777, whole.len() as u64 - 2] {
        let share = format!("share-{kept}");
        scene.fork(&name, &share, kept, vec![]);
        let shared: Vec<_> = scene.log(&share).split_off(1);
        assert_eq!(shared, whole[1..=usize::try_from(kept).unwrap()]);
        let new = scene.child_draft(
            &name,
            &format!("copy-{kept}"),
            kept,
            Strategy::ReplayV1,
            vec![],
        );
        scene.store().create(new).unwrap();
        assert_eq!(scene.log(&format!("copy-{kept}")).split_off(1), shared);
    }
    scene.assert_sound();
}

#[test]
fn a_fork_writes_less_than_a_kilobyte_at_any_depth() {
    let place = Place::new();
    let store = place.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("s0", turns(2));
    let mut most = 0;
    for n in 1..200 {
        let parent = format!("s{}", n - 1);
        let kept = scene.header(&parent).counts.kept;
        let new = scene.child_draft(&parent, &format!("s{n}"), kept, Strategy::ShareV1, vec![]);
        let before = store.bound_bytes();
        scene.store().create(new).unwrap();
        most = most.max(store.bound_bytes() - before);
        scene.append(&format!("s{n}"), turns(1));
    }
    assert!((200..1_024).contains(&most), "{most} bytes");
}

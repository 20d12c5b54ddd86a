//! Cases with many events, many turns and many children.

use crate::events::{turns, user};
use crate::scene::{Scene, forward, id};
use forklore_store::port::{At, Filter};

pub(super) fn ten_one_turn_forks_add_ten_turns(scene: &Scene<'_>) {
    let root = scene.root("a", turns(5000));
    assert_eq!((root.counts.turns, root.own_events), (5000, 10_000));
    for number in 1..=10 {
        let child = format!("b{number}");
        let header = scene.fork("a", &child, 10_000 - 2 * number, turns(1));
        assert_eq!(header.own_events, 3);
        assert!(header.own_bytes < 100, "{} bytes for a turn", header.own_bytes);
        assert_eq!(header.counts.turns, 5001 - number);
    }
    let events = scene.store().verify(None).unwrap().events;
    assert_eq!(events, 10_000 + 10 * 3);
    assert_eq!(scene.header("a"), root);
}

pub(super) fn a_batch_of_ten_thousand_events(scene: &Scene<'_>) {
    scene.root("a", vec![]);
    let appended = scene.append("a", turns(5000));
    assert_eq!((appended.from_seq, appended.to_seq), (0, 9999));
    let log = scene.log("a");
    assert_eq!(log.len(), 10_000);
    assert!((0..).zip(&log).all(|(seq, stored)| stored.seq == seq));
    for turn in [1, 2, 63, 64, 65, 4999, 5000] {
        let page = scene.store().read(&id("a"), &forward(At::Turn(turn), 1, true)).unwrap();
        assert_eq!(page.events[0].seq, (turn - 1) * 2);
    }
}

pub(super) fn many_small_appends_make_one_log(scene: &Scene<'_>) {
    scene.root("a", vec![]);
    for number in 0..300 {
        scene.append("a", vec![user(&number.to_string())]);
    }
    let want: Vec<_> = (0..300).map(|number| number.to_string()).collect();
    assert_eq!(scene.texts("a"), want);
}

pub(super) fn three_hundred_siblings(scene: &Scene<'_>) {
    scene.root("a", turns(10));
    for number in 0..300_u64 {
        scene.fork("a", &format!("b{number}"), number % 21, vec![]);
    }
    for number in 0..300_u64 {
        assert_eq!(scene.header(&format!("b{number}")).inherited.inheritable, number % 21);
    }
    let children = Filter { parent: Some(id("a")), ..Filter::default() };
    assert_eq!(scene.store().sessions(&children, None, 0).unwrap().all().unwrap().len(), 300);
}

//! Cases: a page can begin at a seq, an inheritable count, an index, a turn or an event id, and can
//! be read in both directions.

use forklore_core::Data;

use crate::events::{assistant, rich, user};
use crate::scene::{Scene, backward, counts_of, forward, id};
use forklore_store::port::{At, Direction, LogEntry, Page, Query};

/// Creates a session `a`, its fork `b` and a fork `c` of `b`. Each has events of every class (a
/// class decides whether children inherit an event), but the root `a` has none of the class
/// lineage.
pub(super) fn three_generations(scene: &Scene<'_>) {
    scene.root("a", rich());
    scene.fork("a", "b", 9, rich());
    scene.fork("b", "c", 17, rich());
}

fn each_position(log: &[LogEntry]) -> Vec<At> {
    let counts = counts_of(log);
    let mut positions: Vec<_> = (0..=log.len() as u64 + 1).map(At::Seq).collect();
    positions.extend((0..=counts.inheritable + 1).map(At::Inheritable));
    positions.extend((0..=counts.index + 1).map(At::Index));
    positions.extend((0..=counts.turns + 1).map(At::Turn));
    positions.extend(log.iter().map(|stored| At::Id(stored.event.id.clone())));
    positions
}

/// Computes from the whole log which events a correct store returns for a query.
fn expected(log: &[LogEntry], query: &Query) -> Vec<LogEntry> {
    let at = |found: &dyn Fn(&LogEntry) -> bool| log.iter().position(found);
    let class = |stored: &LogEntry| stored.event.class;
    let start = match &query.at {
        At::Id(id) => {
            return log.iter().filter(|stored| stored.event.id == *id).cloned().collect();
        }
        At::Seq(seq) if query.direction == Direction::Backward => {
            Some((*seq).min(log.len() as u64 - 1) as usize)
        }
        At::Seq(seq) => at(&|stored| stored.seq == *seq),
        At::Inheritable(n) => {
            at(&|stored| class(stored).is_inherited() && stored.counts.inheritable == *n)
        }
        At::Index(n) => {
            at(&|stored| class(stored).is_conversation() && stored.counts.index == n + 1)
        }
        At::Turn(n) => at(&|stored| stored.event.effect.starts_turn && stored.counts.turns == *n),
    };
    match (start, query.direction) {
        (None, _) => Vec::new(),
        (Some(start), Direction::Forward) => log[start..].to_vec(),
        (Some(start), Direction::Backward) => log[..=start].iter().rev().cloned().collect(),
    }
}

pub(super) fn every_query_agrees_with_the_whole_log(scene: &Scene<'_>) {
    three_generations(scene);
    for session in ["a", "b", "c"] {
        let log = scene.log(session);
        for at in each_position(&log) {
            for limit in [1, 3, 1000] {
                for query in [forward(at.clone(), limit, false), backward(at.clone(), limit, false)]
                {
                    // The page after this one begins at a seq, which is one of the positions too.
                    let mut want = expected(&log, &query);
                    let more = !matches!(at, At::Id(_)) && want.len() > limit;
                    want.truncate(limit);
                    let page = scene.store().read(&id(session), &query).unwrap();
                    assert_eq!(page, Page { events: want, more }, "{session} {query:?}");
                }
            }
        }
        for query in [forward(At::Seq(0), 3, false), backward(At::Seq(1000), 3, false)] {
            let want = expected(&log, &query);
            assert_eq!(scene.pages(session, &query), want, "{session} {query:?}");
        }
    }
}

pub(super) fn a_page_says_whether_more_follow(scene: &Scene<'_>) {
    scene.root("a", rich());
    let more = |query: Query| {
        let page = scene.store().read(&id("a"), &query).unwrap();
        (page.events.len(), page.more)
    };
    assert_eq!(more(forward(At::Seq(14), 1, false)), (1, false));
    assert_eq!(more(forward(At::Seq(13), 1, false)), (1, true));
    assert_eq!(more(backward(At::Seq(0), 1, false)), (1, false));
    assert_eq!(more(backward(At::Seq(1), 1, false)), (1, true));
    assert_eq!(more(forward(At::Seq(15), 1, false)), (0, false));
}

pub(super) fn a_bare_page_leaves_out_only_data(scene: &Scene<'_>) {
    three_generations(scene);
    for at in [At::Seq(0), At::Inheritable(2), At::Index(1), At::Turn(2)] {
        let mut want = scene.pages("c", &forward(at.clone(), 1000, false));
        want.iter_mut().for_each(|stored| stored.event.data = Data::parse("null").unwrap());
        assert_eq!(scene.pages("c", &forward(at, 1000, true)), want);
    }
}

pub(super) fn nothing_is_read_at_a_position_that_does_not_exist(scene: &Scene<'_>) {
    scene.root("a", rich());
    let nobody = "nobody".parse().unwrap();
    for at in [
        At::Inheritable(0),
        At::Inheritable(13),
        At::Index(9),
        At::Turn(0),
        At::Turn(3),
        At::Id(nobody),
    ] {
        for query in [forward(at.clone(), 5, false), backward(at, 5, false)] {
            let page = scene.store().read(&id("a"), &query).unwrap();
            assert_eq!(page, Page::default(), "{query:?}");
        }
    }
}

pub(super) fn a_seq_behind_the_head_begins_at_the_head_backward(scene: &Scene<'_>) {
    scene.root("a", vec![user("one"), assistant("two")]);
    for seq in [2, 99, u64::MAX] {
        assert_eq!(scene.page("a", At::Seq(seq), 5), Page::default());
        let back = scene.pages("a", &backward(At::Seq(seq), 5, false));
        assert_eq!(back.iter().map(|stored| stored.seq).collect::<Vec<_>>(), [1, 0]);
    }
}

pub(super) fn an_id_that_recurs_is_found_each_time(scene: &Scene<'_>) {
    scene
        .root("a", vec![user("one").id("same"), user("two").id("other"), user("three").id("same")]);
    scene.fork("a", "b", 3, vec![user("four").id("same")]);
    let same = At::Id("same".parse().unwrap());
    for (session, seqs) in [("a", vec![0, 2]), ("b", vec![1, 3, 4])] {
        for query in [forward(same.clone(), 9, false), backward(same.clone(), 9, true)] {
            let page = scene.store().read(&id(session), &query).unwrap();
            let found: Vec<_> = page.events.iter().map(|stored| stored.seq).collect();
            assert_eq!((found, page.more), (seqs.clone(), false));
        }
    }
}

pub(super) fn counts_are_those_of_the_history_so_far(scene: &Scene<'_>) {
    three_generations(scene);
    for session in ["a", "b", "c"] {
        let log = scene.log(session);
        for (at, stored) in log.iter().enumerate() {
            assert_eq!(stored.counts, counts_of(&log[..=at]), "{session} {at}");
        }
        assert_eq!(scene.header(session).counts, counts_of(&log));
    }
}

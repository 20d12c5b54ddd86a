//! Tests that concurrent appends of several threads share a transaction, and that each append gets
//! its own result.

use forklore_conformance::Scene;
use forklore_conformance::events::user;
use forklore_core::{ErrorKind, SessionId};
use forklore_store::port::Append;

use crate::scratch::{Scratch, handle};

const THREADS: usize = 24;
const APPENDS: usize = 25;

#[test]
fn what_is_refused_leaves_what_is_written_with_it() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", vec![]);
    let session: SessionId = "a".parse().unwrap();
    // Each append has two events, so that the test detects an append that is refused after its
    // first event.
    let request = |thread: usize, n: usize, expect| {
        let texts = ["x", "y"].map(|half| user(&format!("{thread} {n} {half}")));
        Append { expect, ..scene.appending(texts.to_vec()) }
    };
    let requests: Vec<Vec<_>> = (0..THREADS)
        .map(|thread| {
            // Every third append expects a head that never existed.
            let expect = |n: usize| n.is_multiple_of(3).then_some(100_000);
            (0..APPENDS).map(|n| (request(thread, n, expect(n)), n.is_multiple_of(3))).collect()
        })
        .collect();
    let store = scene.store();
    std::thread::scope(|scope| {
        for mine in requests {
            let session = &session;
            scope.spawn(move || {
                for (append, refused) in mine {
                    let (ids, done) = (append.events.clone(), store.append(session, append));
                    match done {
                        Err(error) => assert!(refused && error.kind() == ErrorKind::Conflict),
                        Ok(done) => {
                            assert!(!refused);
                            assert_eq!(done.to_seq - done.from_seq + 1, ids.len() as u64);
                        }
                    }
                }
            });
        }
    });
    let texts = scene.texts("a");
    let written = APPENDS - APPENDS.div_ceil(3);
    assert_eq!(texts.len(), 2 * THREADS * written);
    for pair in texts.chunks(2) {
        assert_eq!(pair[0].strip_suffix('x'), pair[1].strip_suffix('y'), "torn apart");
    }
    for thread in 0..THREADS {
        let mine = texts.iter().filter(|text| text.starts_with(&format!("{thread} ")));
        let order: Vec<_> = mine.map(|text| text.split(' ').nth(1).unwrap()).collect();
        let numbers: Vec<usize> = order.iter().map(|n| n.parse().unwrap()).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
    }
    scene.assert_sound();
}

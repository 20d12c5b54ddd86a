//! Tests of dropped futures: a step either never starts or runs to its end.

use std::num::NonZeroUsize;
use std::pin::pin;

use forklore::prelude::*;
use futures_lite::future::{block_on, poll_once};

use crate::paused::{Appends, paused};
use crate::{message, with_messages};

/// Opens a store that runs one step at a time. Each append waits for its release by the test.
async fn one_at_a_time() -> (Forklore, SessionId, Appends) {
    let (engine, appends) = paused();
    let store = Forklore::over(engine).with_steps_at_once(NonZeroUsize::MIN);
    let session = store.create(Create::in_workspace(Workspace::new("/demo"))).await.unwrap().id;
    (store, session, appends)
}

/// Waits until every step that may start has started. For this, it runs further steps on another
/// store: the threads take steps in order, and these further steps come last.
async fn all_that_may_have_begun() {
    let (other, session) = with_messages(0).await;
    for _ in 0..20 {
        other.show(&session).await.unwrap();
    }
}

#[test]
fn a_future_that_was_never_polled_does_nothing() {
    block_on(async {
        let (store, session) = with_messages(0).await;
        drop(store.append(&session, message("a")));
        assert_eq!(store.show(&session).await.unwrap().head_seq(), -1);
    });
}

#[test]
fn a_step_that_waits_for_its_turn_never_begins() {
    block_on(async {
        let (store, session, appends) = one_at_a_time().await;
        let mut first = pin!(store.append(&session, message("first")));
        assert!(poll_once(&mut first).await.is_none());
        appends.wait_for_one();
        {
            let mut second = pin!(store.append(&session, message("second")));
            assert!(poll_once(&mut second).await.is_none());
            all_that_may_have_begun().await;
            assert!(!appends.has_one_more());
        }
        appends.let_go(1);
        assert_eq!(first.await.unwrap().head_seq, 0);
        // Only one step runs at a time, and steps run in order. If the dropped append had not been
        // cancelled, it would have run before this load.
        assert_eq!(store.load(&session).await.unwrap().events.len(), 1);
        assert!(!appends.has_one_more());
    });
}

#[test]
fn a_step_that_has_begun_goes_on_to_its_end() {
    block_on(async {
        let (store, session, appends) = one_at_a_time().await;
        {
            let mut append = pin!(store.append(&session, message("a")));
            assert!(poll_once(&mut append).await.is_none());
            appends.wait_for_one();
        }
        // The dropped append has started and still has the only permit: no other step starts before
        // it is done.
        let mut load = pin!(store.load(&session));
        assert!(poll_once(&mut load).await.is_none());
        all_that_may_have_begun().await;
        appends.let_go(1);
        assert_eq!(load.await.unwrap().events.len(), 1);
    });
}

#[test]
fn a_dropped_append_can_be_made_again() {
    block_on(async {
        let (store, session, appends) = one_at_a_time().await;
        let again = || Batch {
            events: vec![NewEvent { id: Some("e1".parse().unwrap()), ..message("a") }],
            expect: Some(-1),
            owner: None,
        };
        {
            let mut append = pin!(store.append(&session, again()));
            assert!(poll_once(&mut append).await.is_none());
            appends.wait_for_one();
        }
        appends.let_go(2);
        let appended = store.append(&session, again()).await.unwrap();
        assert!(appended.repeated, "{appended:?}");
        assert_eq!((appended.from_seq, appended.head_seq), (0, 0));
    });
}

#[test]
fn no_more_steps_run_at_once_than_allowed() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    runtime.block_on(async {
        let (engine, appends) = paused();
        let store = Forklore::over(engine).with_steps_at_once(NonZeroUsize::new(3).unwrap());
        let session = store.create(Create::in_workspace(Workspace::new("/demo"))).await.unwrap().id;
        let mut all = tokio::task::JoinSet::new();
        for number in 0..30 {
            let (store, session) = (store.clone(), session.clone());
            let one = async move { store.append(&session, message(&number.to_string())).await };
            all.spawn(one);
        }
        // Three steps start although none of them may finish: steps run concurrently.
        (0..3).for_each(|_| appends.wait_for_one());
        all_that_may_have_begun().await;
        assert!(!appends.has_one_more());
        appends.let_go(30);
        for appended in all.join_all().await {
            appended.unwrap();
        }
        assert_eq!(appends.most_at_once(), 3);
        assert_eq!(store.load(&session).await.unwrap().events.len(), 30);
    });
}

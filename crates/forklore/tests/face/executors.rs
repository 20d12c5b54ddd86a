//! Tests that the async API runs on any executor.

use std::path::Path;

use forklore::prelude::*;

use crate::message;

/// Creates a session and a fork in a store on disk. Returns the number of common records and the
/// number of records that only the fork has.
async fn some_work(dir: &Path) -> (u64, usize) {
    let url = format!("sqlite:{}", dir.join("store.db").display());
    let store = forklore::open(&url).await.unwrap();
    let main = store.create(Create::in_workspace(Workspace::new("/demo"))).await.unwrap().id;
    store.append(&main, message("plan A or plan B?")).await.unwrap();
    let b = store.fork(Fork::of(main.clone())).await.unwrap().child_session_id;
    store.append(&b, NewEvent::assistant("plan B").unwrap()).await.unwrap();
    let difference = store.diff(&main, &b).await.unwrap();
    store.close().await;
    (difference.common, difference.only_b.len())
}

#[test]
fn without_any_runtime() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(futures_lite::future::block_on(some_work(dir.path())), (1, 1));
}

#[test]
fn on_the_one_thread_of_a_runtime() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(some_work(dir.path())), (1, 1));
}

#[test]
fn on_many_threads() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    let dirs: Vec<_> = (0..8).map(|_| tempfile::tempdir().unwrap()).collect();
    let all = runtime.block_on(async {
        let mut all = tokio::task::JoinSet::new();
        for dir in &dirs {
            let path = dir.path().to_owned();
            all.spawn(async move { some_work(&path).await });
        }
        all.join_all().await
    });
    assert_eq!(all, vec![(1, 1); 8]);
}

#[test]
fn futures_and_streams_may_change_threads() {
    fn may_move<T: Send>(it: T) -> T {
        it
    }
    futures_lite::future::block_on(async {
        let store = may_move(forklore::open("memory:")).await.unwrap();
        let new = Create::in_workspace(Workspace::new("/demo"));
        let session = may_move(store.create(new)).await.unwrap().id;
        may_move(store.append(&session, message("a"))).await.unwrap();
        let mut records = may_move(may_move(store.replay(&session, None)).await.unwrap());
        assert!(may_move(records.next()).await.is_some());
        assert!(may_move(records.next()).await.is_none());
    });
}

#[test]
fn a_url_that_names_no_store_is_refused() {
    let refused = futures_lite::future::block_on(forklore::open("mysql://somewhere"));
    assert!(matches!(refused.unwrap_err(), forklore::OpenError::Url(_)));
}

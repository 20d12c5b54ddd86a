//! Tests of failed writes and syncs. After a failed write, the store opens the file again before
//! the next operation, and does not retry the failed write.

use std::sync::Arc;

use forklore_conformance::events::{turns, user};
use forklore_conformance::scene::id;
use forklore_conformance::{Handle, Scene};
use forklore_core::ErrorKind;

use super::mutex::lock;
use super::{Options, SqliteStore};
use crate::fault::Fault;

#[test]
fn a_full_disk_refuses_the_append_and_the_next_one_works() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let store = Arc::new(SqliteStore::open(&path, Options::default()).unwrap());
    let factory = || Handle::shared(store.clone());
    let scene = Scene::new(&factory);
    scene.root("a", turns(2));
    let before = scene.log("a");
    let limit = |conn: &rusqlite::Connection| {
        let pages: i64 = conn.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        conn.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))
    };
    limit(lock(&store.writer).connection().unwrap()).unwrap();
    let much = vec![user(&"x".repeat(200_000))];
    let error = scene.store().append(&id("a"), scene.appending(much.clone())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    let text = error.to_string();
    assert!(text.starts_with("appending to /") && text.contains("store.db: "), "{text}");
    assert!(text.contains("full"), "{text}");
    assert!(lock(&store.writer).connection().is_none(), "the connection is still trusted");
    assert_eq!(scene.log("a"), before);
    // The new connection has no limit on the size of the file.
    scene.append("a", much);
    assert_eq!(scene.log("a").len(), before.len() + 1);
    scene.assert_sound();
}

#[test]
fn a_sync_that_fails_while_packing_ends_the_writing_of_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let store = Arc::new(SqliteStore::open(&path, Options::default()).unwrap());
    let factory = || Handle::shared(store.clone());
    let scene = Scene::new(&factory);
    scene.root("a", turns(2));
    let packing =
        SqliteStore::open_for(&path, Options::default(), Arc::clone(&store.failed)).unwrap();
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR_FSYNC);
    packing.failed.note(&Fault::Sql(rusqlite::Error::SqliteFailure(code, None)));
    let error = scene.store().append(&id("a"), scene.appending(turns(1))).unwrap_err();
    assert!(matches!(error, forklore_store::Error::Poisoned { .. }), "{error:?}");
    assert_eq!(scene.log("a").len(), 4);
}

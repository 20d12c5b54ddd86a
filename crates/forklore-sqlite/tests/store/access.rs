//! Tests of permissions and locks. A store that this user must not open, or that another process
//! has locked, is refused, and its files do not change.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use forklore_conformance::Scene;
use forklore_conformance::events::turns;
use forklore_core::ErrorKind;
use forklore_sqlite::{Options, SqliteStore};
use forklore_store::{Error, Store};

use crate::scratch::{Scratch, handle};

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn refused(scratch: &Scratch) -> Error {
    SqliteStore::open(&scratch.file(), Options::default()).unwrap_err()
}

#[test]
fn sec_s10_files_are_their_owners_alone_from_the_beginning() {
    let scratch = Scratch::new();
    let path = scratch.dir().join("a/b/store.db");
    let store = std::sync::Arc::new(SqliteStore::open(&path, Options::default()).unwrap());
    let make = || handle(&store);
    Scene::new(&make).root("a", turns(1));
    for folder in ["a", "a/b"] {
        assert_eq!(mode(&scratch.dir().join(folder)), 0o700, "{folder}");
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(scratch.dir().join("a/b")).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(mode(&entry.path()), 0o600, "{:?}", entry.path());
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    let expected = ["store.db", "store.db-lock", "store.db-queue", "store.db-shm", "store.db-wal"];
    assert_eq!(names, expected);
}

#[test]
fn sec_s10_a_store_that_everybody_may_write_is_refused() {
    let scratch = Scratch::new();
    drop(scratch.open());
    fs::set_permissions(scratch.file(), Permissions::from_mode(0o622)).unwrap();
    let error = refused(&scratch);
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert!(error.to_string().contains("chmod o-w"), "{error}");
    fs::set_permissions(scratch.file(), Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(scratch.dir(), Permissions::from_mode(0o777)).unwrap();
    assert_eq!(refused(&scratch).kind(), ErrorKind::PermissionDenied);
    // In a folder with the sticky bit, everybody may create files, but only the owner of a file can
    // replace it.
    fs::set_permissions(scratch.dir(), Permissions::from_mode(0o1777)).unwrap();
    SqliteStore::open(&scratch.file(), Options::default()).unwrap();
}

#[test]
fn sec_s10_a_store_of_another_user_is_refused() {
    let scratch = Scratch::new();
    drop(scratch.open());
    // Only the superuser can change the owner of a file. Otherwise use /etc/passwd, which belongs
    // to another user.
    let file = match std::os::unix::fs::chown(scratch.file(), Some(4321), None) {
        Ok(()) => scratch.file(),
        Err(_) => "/etc/passwd".into(),
    };
    let error = SqliteStore::open(&file, Options::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert!(error.to_string().contains("another user"), "{error}");
}

#[test]
fn what_is_no_store_is_left_as_it_is() {
    let contents: [&[u8]; 4] = [b"", b"{\"not\":\"a store\"}\n", &[0; 8192], b"SQLite format 3\0"];
    for content in contents {
        let scratch = Scratch::new();
        fs::write(scratch.file(), content).unwrap();
        assert_eq!(refused(&scratch).kind(), ErrorKind::Unsupported);
        assert_eq!(fs::read(scratch.file()).unwrap(), content);
    }
    let scratch = Scratch::new();
    scratch
        .sqlite()
        .execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")
        .unwrap();
    let before = fs::read(scratch.file()).unwrap();
    let error = refused(&scratch);
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("is not a store of forklore"), "{error}");
    assert_eq!(fs::read(scratch.file()).unwrap(), before);
    let scratch = Scratch::new();
    fs::create_dir(scratch.file()).unwrap();
    assert_eq!(refused(&scratch).kind(), ErrorKind::Unsupported);
}

#[test]
fn a_newer_version_is_refused_by_name() {
    let scratch = Scratch::new();
    drop(scratch.open());
    scratch.sqlite().pragma_update(None, "user_version", 7).unwrap();
    let error = refused(&scratch);
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("version 7"), "{error}");
}

#[test]
fn a_read_only_store_is_read() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(2));
    let before = scene.log("a");
    let read_only = Options { read_only: true, ..Options::default() };
    let reader = std::sync::Arc::new(SqliteStore::open(&scratch.file(), read_only).unwrap());
    let make = || handle(&reader);
    let reading = Scene::new(&make);
    assert_eq!(reading.log("a"), before);
    let error = reading.store().create(reading.draft("b", vec![])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    let missing = SqliteStore::open(&scratch.dir().join("none.db"), read_only).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Internal);
    assert!(!scratch.dir().join("none.db").exists());
}

#[test]
fn a_wait_that_is_too_long_is_reported() {
    let scratch = Scratch::new();
    let options = Options { wait: std::time::Duration::from_millis(50), ..Options::default() };
    let store = std::sync::Arc::new(SqliteStore::open(&scratch.file(), options).unwrap());
    let make = || handle(&store);
    let scene = Scene::new(&make);
    let lock = fs::File::open(scratch.dir().join("store.db-lock")).unwrap();
    lock.lock().unwrap();
    let error = scene.store().create(scene.draft("a", vec![])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.to_string().contains("store.db-lock"), "{error}");
    lock.unlock().unwrap();
    scene.root("a", vec![]);
    // The store also waits for another program that locks the database without the gate.
    let tool = scratch.sqlite();
    tool.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = scene.store().create(scene.draft("b", vec![])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    tool.execute_batch("ROLLBACK").unwrap();
    scene.root("b", vec![]);
}

#[test]
fn a_lock_file_that_was_replaced_is_opened_again() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    let lock = scratch.dir().join("store.db-lock");
    let old = fs::File::open(&lock).unwrap();
    old.lock().unwrap();
    fs::remove_file(&lock).unwrap();
    scene.root("a", vec![]);
    assert!(lock.exists());
}

#[test]
fn a_store_that_was_half_made_is_made_anew() {
    let scratch = Scratch::new();
    fs::write(scratch.dir().join("store.db-new"), b"SQLite format 3\0 and then the power went")
        .unwrap();
    let store = scratch.open();
    let make = || handle(&store);
    Scene::new(&make).root("a", turns(1));
    assert!(!scratch.dir().join("store.db-new").exists());
}

#[test]
fn a_store_that_a_newer_program_takes_over_is_written_no_more() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(1));
    let log = scene.log("a");
    scratch.sqlite().pragma_update(None, "user_version", 1_000).unwrap();
    let append = scene.appending(turns(1));
    let error = scene.store().append(&"a".parse().unwrap(), append).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("1000"), "{error}");
    assert_eq!(scene.store().gc().unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(scene.log("a"), log);
}

#[test]
fn a_store_whose_file_is_gone_is_never_a_new_one() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let attachments = Store::attachments(&*store).unwrap();
    drop(attachments.put(&mut "attached".as_bytes(), 100).unwrap());
    drop(attachments);
    drop(store);
    std::fs::remove_file(scratch.file()).unwrap();
    let gone = |remains: &str| {
        let refused = SqliteStore::open(&scratch.file(), Options::default()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Corrupt, "{refused}");
        assert!(refused.to_string().contains(remains), "{refused}");
        assert!(!scratch.file().exists() && SqliteStore::exists(&scratch.file()));
        assert_eq!(SqliteStore::health(&scratch.file()).worst(), Some(ErrorKind::Corrupt));
    };
    gone("store.db-attachments");
    std::fs::remove_dir_all(scratch.dir().join("store.db-attachments")).unwrap();
    std::fs::write(scratch.dir().join("store.db-wal"), "changes").unwrap();
    gone("store.db-wal");
    std::fs::remove_file(scratch.dir().join("store.db-wal")).unwrap();
    assert!(!SqliteStore::exists(&scratch.file()));
    // Only the lock files remain. They do not prevent the creation of a new store.
    scratch.open();
}

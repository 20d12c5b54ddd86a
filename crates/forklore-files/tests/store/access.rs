//! Tests of permissions and locks. A store that this user must not open, or that another process
//! has locked, is refused, and its files do not change.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use forklore_conformance::Scene;
use forklore_conformance::events::turns;
use forklore_core::ErrorKind;
use forklore_files::{FilesStore, Options};
use forklore_store::Error;

use crate::scratch::{Scratch, handle};

fn refused(path: &Path) -> Error {
    FilesStore::open(path, Options::default()).unwrap_err()
}

fn assert_private(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
        if path.is_dir() {
            assert_private(&path);
        }
    }
}

#[test]
fn sec_s10_files_are_their_owners_alone_from_the_beginning() {
    let scratch = Scratch::new();
    let path = scratch.root().join("a/b");
    let store = Arc::new(FilesStore::open(&path, Options::default()).unwrap());
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(1));
    scene.copy("a", "b", 1, turns(1));
    assert_private(scratch.root().parent().unwrap());
}

#[test]
fn sec_s10_a_store_that_everybody_may_write_is_refused() {
    let scratch = Scratch::new();
    drop(scratch.open());
    fs::set_permissions(scratch.root(), Permissions::from_mode(0o777)).unwrap();
    let error = refused(&scratch.root());
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert!(error.to_string().contains("chmod o-w"), "{error}");
}

#[test]
fn a_link_instead_of_a_session_is_not_followed() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(1));
    let elsewhere = scratch.root().parent().unwrap().join("elsewhere.jsonl");
    fs::rename(scratch.file("a"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, scratch.file("a")).unwrap();
    let before = fs::read(&elsewhere).unwrap();
    let append = scene.appending(turns(1));
    scene.store().append(&"a".parse().unwrap(), append).unwrap_err();
    assert_eq!(fs::read(&elsewhere).unwrap(), before);
}

#[test]
fn what_is_no_store_is_left_as_it_is() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.root()).unwrap();
    fs::write(scratch.root().join("notes.txt"), "mine").unwrap();
    let error = refused(&scratch.root());
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("is not a store of forklore"), "{error}");
    assert_eq!(scratch.files(), [(scratch.root().join("notes.txt"), b"mine".to_vec())]);
    let file = scratch.root().join("notes.txt");
    assert_eq!(refused(&file).kind(), ErrorKind::Unsupported);
}

#[test]
fn the_marker_of_another_store_is_refused_by_what_is_true() {
    let scratch = Scratch::new();
    drop(scratch.open());
    let marker = scratch.root().join("forklore.json");
    let (root, path) = (scratch.root(), marker.display());
    // A marker is one line with a checksum.
    let refusal = |line: &str| {
        let sum = crc32fast::hash(line.as_bytes());
        fs::write(&marker, format!("{line},\"crc\":\"{sum:08x}\"}}\n")).unwrap();
        let error = refused(&root);
        (error.kind(), error.to_string())
    };
    let newer =
        format!("{path} has the version 7 and this program knows up to 1; use a newer forklore");
    assert_eq!(refusal("{\"forklore\":\"files\",\"version\":7"), (ErrorKind::Unsupported, newer));
    let (kind, message) = refusal("{\"forklore\":\"files\",\"version\":0");
    assert_eq!(kind, ErrorKind::Corrupt);
    assert!(message.ends_with("no program gave it the version 0"), "{message}");
    let other = format!("{} is not a files store", root.display());
    assert_eq!(refusal("{\"forklore\":\"graph\",\"version\":1"), (ErrorKind::Unsupported, other));
}

#[test]
fn a_store_that_was_half_made_is_made() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.root()).unwrap();
    fs::set_permissions(scratch.root(), Permissions::from_mode(0o700)).unwrap();
    fs::write(scratch.root().join("forklore.json.new"), "{\"forkl").unwrap();
    fs::create_dir(scratch.root().join("workspaces")).unwrap();
    let store = scratch.open();
    let make = || handle(&store);
    Scene::new(&make).root("a", turns(1));
}

#[test]
fn a_read_only_store_is_read() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(2));
    let before = (scene.log("a"), scratch.files());
    let read_only = Options { read_only: true, ..Options::default() };
    let reader = Arc::new(FilesStore::open(&scratch.root(), read_only).unwrap());
    let make = || handle(&reader);
    let reading = Scene::new(&make);
    assert_eq!(reading.log("a"), before.0);
    let error = reading.store().create(reading.draft("b", vec![])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert_eq!(scratch.files(), before.1);
    let none = scratch.root().join("none");
    FilesStore::open(&none, read_only).unwrap_err();
    assert!(!none.exists());
}

#[test]
fn a_wait_that_is_too_long_is_reported() {
    let scratch = Scratch::new();
    let wait = std::time::Duration::from_millis(50);
    let options = Options { wait, ..Options::default() };
    let store = Arc::new(FilesStore::open(&scratch.root(), options).unwrap());
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", vec![]);
    scene.root("b", vec![]);
    // A session's own lock blocks writers of this session only.
    let own = fs::File::open(scratch.root().join("ids/a")).unwrap();
    own.lock().unwrap();
    let error = scene.store().append(&"a".parse().unwrap(), scene.appending(turns(1))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    scene.append("b", turns(1));
    own.unlock().unwrap();
    let all = fs::File::open(scratch.root().join("store-lock")).unwrap();
    all.lock().unwrap();
    let error = scene.store().create(scene.draft("c", vec![])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    all.unlock().unwrap();
    scene.append("a", turns(1));
    scene.root("c", vec![]);
}

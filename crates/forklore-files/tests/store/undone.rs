//! Tests that a change to several files that fails leaves every file as it was, and loses nothing
//! that was acknowledged before.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use forklore_conformance::Scene;
use forklore_conformance::events::{turns, user};
use forklore_conformance::scene::{id, label};
use forklore_core::ErrorKind;
use forklore_files::FilesStore;
use forklore_files::fs::Open;
use forklore_store::Store;
use forklore_store::port::{Change, Children, Transaction, Write};
use jiff::Timestamp;

use crate::scratch::{Scratch, handle};
use crate::watched::{Operation, Watch, open_watched};

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// The disk is full: this write or creation of a file fails, and each later one.
    Full,
    /// This rename fails, and no other operation.
    Rename,
}

/// Once the journal of a change has its name, the operation after `left` more of its kind fails.
#[derive(Debug)]
struct Failing {
    trouble: Trouble,
    journaled: AtomicBool,
    left: AtomicUsize,
    failed: Mutex<Vec<String>>,
}

impl Failing {
    fn after(trouble: Trouble, left: usize) -> Arc<Self> {
        let (journaled, failed) = <_>::default();
        Arc::new(Self { trouble, journaled, left: AtomicUsize::new(left), failed })
    }

    fn ask(&self, trouble: Trouble, path: &Path) -> io::Result<()> {
        if trouble != self.trouble || !self.journaled.load(Ordering::Relaxed) {
            return Ok(());
        }
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        let mut failed = self.failed.lock().unwrap();
        if left > 0 || (trouble == Trouble::Rename && !failed.is_empty()) {
            return Ok(());
        }
        failed.push(path.display().to_string());
        Err(io::ErrorKind::StorageFull.into())
    }

    fn has_failed(&self) -> bool {
        !self.failed.lock().unwrap().is_empty()
    }
}

impl Watch for Failing {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        match operation {
            Operation::Open(Open::Create) | Operation::Write => self.ask(Trouble::Full, path),
            Operation::Rename => self.ask(Trouble::Rename, path),
            Operation::Open(_) | Operation::SyncFolder | Operation::Sync(_) => Ok(()),
        }
    }

    fn after(&self, operation: Operation, path: &Path) {
        if operation == Operation::Rename && path.ends_with("pending.json") {
            self.journaled.store(true, Ordering::Relaxed);
        }
    }
}

/// Returns all files of a store except the feed's log, to which a failed change adds lines.
fn files(scratch: &Scratch) -> Vec<(PathBuf, String)> {
    let files = scratch.files().into_iter().filter(|(path, _)| !path.ends_with("feed.jsonl"));
    files.map(|(path, bytes)| (path, String::from_utf8(bytes).unwrap())).collect()
}

fn claim(scratch: &Scratch, session: &str) -> PathBuf {
    scratch.root().join("ids").join(session)
}

#[test]
fn a_failed_change_cuts_off_no_acknowledged_step() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(1));
    let stale = fs::read(claim(&scratch, "a")).unwrap();
    scene.append("a", vec![user("acknowledged")]);
    let (log, whole) = (scene.log("a"), fs::read(scratch.file("a")).unwrap());
    // The claim is not synced. After a crash, or if somebody removed it, it lags behind.
    for claimed in [Some(&stale[..]), Some(&b"{\"id\":"[..]), None] {
        match claimed {
            Some(claimed) => fs::write(claim(&scratch, "a"), claimed).unwrap(),
            None => fs::remove_file(claim(&scratch, "a")).unwrap(),
        }
        let disk = Failing::after(Trouble::Full, 0);
        let failed =
            open_watched(&scratch, &disk).remove(&[id("a")], Children::Refuse, Timestamp::MAX);
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::Internal);
        assert!(disk.has_failed());
        assert_eq!(fs::read(scratch.file("a")).unwrap(), whole);
        assert_eq!(scene.log("a"), log);
    }
}

#[test]
fn a_failed_change_keeps_the_copy_of_a_torn_tail() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(1));
    let (log, whole) = (scene.log("a"), fs::read(scratch.file("a")).unwrap());
    fs::write(scratch.file("a"), [&whole[..], b"{\"id\":"].concat()).unwrap();
    let disk = Failing::after(Trouble::Full, 0);
    let failed = open_watched(&scratch, &disk).remove(&[id("a")], Children::Refuse, Timestamp::MAX);
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::Internal);
    assert!(disk.has_failed());
    assert_eq!(fs::read(scratch.file("a")).unwrap(), whole);
    assert_eq!(scene.log("a"), log);
    let aside = fs::read_dir(scratch.root().join("aside")).unwrap();
    let aside: Vec<_> = aside.map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect();
    assert_eq!(aside, [b"{\"id\":"]);
}

/// Changes three sessions and creates two more, in one change. It replaces the claim of the label
/// `x` and removes that of the label `c`.
fn change_all(store: &FilesStore, scene: &Scene<'_>) -> forklore_store::Result<()> {
    let append = |session: &str| Write::Append {
        session: id(session),
        append: scene.appending(vec![user("more")]),
    };
    let create = |session: &str| Write::Create(Box::new(scene.draft(session, turns(1))));
    let change = Change::Label(label("x"));
    let writes = vec![
        append("a"),
        append("b"),
        Write::Change { session: id("c"), change },
        create("d"),
        create("e"),
    ];
    store.commit(Transaction { writes, ..Transaction::default() }).map(|_| ())
}

#[test]
fn a_failed_change_leaves_every_file_as_it_was() {
    for (trouble, least) in [(Trouble::Full, 17), (Trouble::Rename, 7)] {
        let scratch = Scratch::new();
        let store = scratch.open();
        let make = || handle(&store);
        let scene = Scene::new(&make);
        scene.root("a", turns(1));
        scene.fork("a", "b", 1, turns(1));
        scene.fork("a", "c", 1, turns(1));
        // A killed process left a claim of the label `x`.
        let labels = scratch.root().join("labels/a");
        fs::copy(labels.join("b"), labels.join("x")).unwrap();
        let before = files(&scratch);
        let mut failures = 0;
        loop {
            let disk = Failing::after(trouble, failures);
            // At the end only the records of durable lengths fail, which may be lost.
            let Err(error) = change_all(&open_watched(&scratch, &disk), &scene) else { break };
            let failed = format!("{trouble:?} at {:?}", disk.failed.lock().unwrap());
            assert_eq!(error.kind(), ErrorKind::Internal, "{failed}");
            assert_eq!(files(&scratch), before, "{failed}");
            failures += 1;
        }
        assert!(failures >= least, "{failures} operations failed");
        scene.assert_sound();
    }
}

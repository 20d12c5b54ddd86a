//! Tests how much an operation writes: an append is one write and one sync, and a fork writes a few
//! hundred bytes. Neither depends on the length of the history or its depth (docs/semantics.md,
//! Fork).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use forklore_conformance::Scene;
use forklore_conformance::events::{turns, user};
use forklore_files::FilesStore;
use forklore_store::Store;
use forklore_store::port::{Children, Transaction, Write};

use crate::scratch::{Scratch, handle};
use crate::watched::{Operation, Watch, open_watched};

type Seen = Arc<Mutex<Vec<String>>>;

/// Records every write and sync with its path, and counts what is read of the store's folders.
#[derive(Debug)]
struct Noted {
    seen: Seen,
    root: PathBuf,
    looked: Arc<Looked>,
}

/// How many files were opened, and how many names the listings of folders had.
#[derive(Debug, Default)]
struct Looked {
    opened: AtomicUsize,
    listed: AtomicUsize,
}

impl Looked {
    /// Returns the numbers since the last call: of opened files, and of listed names.
    fn take(&self) -> (usize, usize) {
        let take = |count: &AtomicUsize| count.swap(0, Ordering::Relaxed);
        (take(&self.opened), take(&self.listed))
    }
}

impl Noted {
    fn note(&self, what: &str, path: &Path) {
        let name = path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
        self.seen.lock().unwrap().push(format!("{what} {name}"));
    }
}

impl Watch for Noted {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        match operation {
            Operation::Open(_) => {
                self.looked.opened.fetch_add(1, Ordering::Relaxed);
            }
            Operation::Rename => self.note("rename to", path),
            Operation::SyncFolder => self.note("sync folder", path),
            Operation::Write => self.note("write", path),
            Operation::Sync(_) => self.note("sync", path),
        }
        Ok(())
    }

    fn listed(&self, count: usize) {
        self.looked.listed.fetch_add(count, Ordering::Relaxed);
    }
}

/// Opens a store on a file system that records what it does.
fn noted(scratch: &Scratch, seen: &Seen) -> (Arc<FilesStore>, Arc<Looked>) {
    let looked = Arc::new(Looked::default());
    let noted = Noted { seen: seen.clone(), root: scratch.root(), looked: looked.clone() };
    (open_watched(scratch, &Arc::new(noted)), looked)
}

#[test]
fn an_append_is_one_write_and_one_sync() {
    let scratch = Scratch::new();
    let seen = Seen::default();
    let (store, _) = noted(&scratch, &seen);
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(1));
    for batch in [1, 40] {
        seen.lock().unwrap().clear();
        scene.append("a", turns(batch));
        let file = "workspaces/demo-3152370b54f6/a.jsonl";
        // The third operation writes the durable length into the session's claim, which is not
        // synced.
        let expected = [format!("write {file}"), format!("sync {file}"), "write ids/a".into()];
        assert_eq!(*seen.lock().unwrap(), expected);
    }
}

#[test]
fn a_session_gets_its_name_last_and_durably() {
    let scratch = Scratch::new();
    let seen = Seen::default();
    let (store, _) = noted(&scratch, &seen);
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(1));
    seen.lock().unwrap().clear();
    scene.fork("a", "b", 1, turns(1));
    let folder = "workspaces/demo-3152370b54f6";
    let expected = [
        "write ids/b".to_owned(),
        "sync ids/b".into(),
        "sync folder ids".into(),
        "write labels/a/~LABEL.new".into(),
        "sync labels/a/~LABEL.new".into(),
        "rename to labels/a/~LABEL".into(),
        "sync folder labels/a".into(),
        format!("write {folder}/b.jsonl.new"),
        format!("sync {folder}/b.jsonl.new"),
        format!("rename to {folder}/b.jsonl"),
        format!("sync folder {folder}"),
        "write ids/b".into(),
    ];
    let expected = expected.map(|line| line.replace("~LABEL", "b"));
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[test]
fn a_fork_is_as_small_in_a_deep_family_as_in_a_young_one() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("s0", turns(20));
    let mut stored = 40;
    for depth in 1..100 {
        scene.fork(&format!("s{}", depth - 1), &format!("s{depth}"), stored, vec![user("on")]);
        stored += 1;
    }
    let size = |name: &str| std::fs::metadata(scratch.file(name)).unwrap().len();
    let largest = (1..100).map(|depth| size(&format!("s{depth}"))).max().unwrap();
    assert!(largest < 4_000, "{largest} bytes");
    // Cuts at the end, in the middle, and far back. For the last ones, the spans are in an
    // ancestor's first line.
    for (child, at) in [("end", stored), ("middle", 90), ("far", 45), ("first", 1), ("start", 0)] {
        scene.fork("s99", child, at, vec![]);
        assert!(size(child) < 4_000, "{child}: {} bytes", size(child));
        let (log, parent) = (scene.log(child), scene.log("s99"));
        let ids = |log: &[forklore_store::port::LogEntry]| {
            log.iter().map(|stored| stored.event.id.clone()).collect::<Vec<_>>()
        };
        let at = usize::try_from(at).unwrap();
        assert_eq!(ids(&log[1..]), ids(&parent[1..=at]), "{child}");
    }
    scene.assert_sound();
}

#[test]
fn a_new_session_does_not_look_at_its_many_siblings() {
    let scratch = Scratch::new();
    let (store, looked) = noted(&scratch, &Seen::default());
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(1));
    for sibling in 0..150 {
        scene.fork("a", &format!("s{sibling}"), 1, vec![]);
    }
    looked.take();
    scene.fork("a", "another", 1, vec![]);
    let (_, listed) = looked.take();
    assert!(listed < 10, "it read {listed} names");
    // The same in one change of many sessions, as an import makes it.
    let many = |from: usize, count: usize| {
        let drafts = (from..from + count).map(|n| scene.draft(&format!("r{n}"), turns(1)));
        let writes = drafts.map(|new| Write::Create(Box::new(new))).collect();
        store.commit(Transaction { writes, ..Transaction::default() }).unwrap();
        looked.take()
    };
    let (few, more) = (many(0, 50), many(50, 100));
    assert!(more.0 < 3 * few.0 && more.1 < 3 * few.1.max(10), "{few:?} for 50, {more:?} for 100");
}

#[test]
fn a_delete_reads_each_session_once() {
    let scratch = Scratch::new();
    let (store, looked) = noted(&scratch, &Seen::default());
    let make = || handle(&store);
    let scene = Scene::new(&make);
    let family = |root: &str, depth: usize| {
        scene.root(root, turns(1));
        let mut ids = vec![root.to_owned()];
        for link in 0..depth {
            let child = format!("{root}-{link}");
            scene.fork(ids.last().unwrap(), &child, 1, vec![user("on")]);
            ids.push(child);
        }
        ids.reverse();
        ids
    };
    let (short, long) = (family("a", 50), family("b", 100));
    let leaf = [long.first().unwrap().as_str()];
    looked.take();
    scene.remove(&leaf, Children::Refuse).unwrap();
    let (one, _) = looked.take();
    // For each of the 152 sessions, its claim and its file are opened.
    assert!(one < 152 * 2 + 60, "{one} files were opened for one of 152 sessions");
    let cascade = |ids: &[String]| {
        looked.take();
        scene
            .remove(&ids.iter().map(String::as_str).collect::<Vec<_>>(), Children::Refuse)
            .unwrap();
        looked.take().0
    };
    let (many, few) = (cascade(&long[1..]), cascade(&short));
    assert!(many < 3 * few, "{few} files were opened for 51 sessions, {many} for 100");
}

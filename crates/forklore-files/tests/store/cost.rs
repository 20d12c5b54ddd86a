//! Tests how much an operation writes: an append is one write and one sync, and a fork writes a few
//! hundred bytes. Neither depends on the length of the history or its depth (docs/semantics.md,
//! Fork).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use forklore_conformance::Scene;
use forklore_conformance::events::{turns, user};
use forklore_files::fs::{Disk, File, Fs, Open};
use forklore_files::{FilesStore, Options};

use crate::scratch::{Scratch, handle};

type Seen = Arc<Mutex<Vec<String>>>;

/// The file system of the disk. It records every write and sync with its path.
#[derive(Debug)]
struct Noted {
    seen: Seen,
    root: PathBuf,
}

#[derive(Debug)]
struct NotedFile {
    file: Box<dyn File>,
    name: String,
    seen: Seen,
}

impl Noted {
    fn note(&self, what: &str, path: &Path) {
        let name = path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
        self.seen.lock().unwrap().push(format!("{what} {name}"));
    }
}

impl Fs for Noted {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn File>> {
        let file = Disk.open(path, how)?;
        let name = path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
        Ok(Box::new(NotedFile { file, name, seen: self.seen.clone() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.note("rename to", to);
        Disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Disk.remove(path)
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        Disk.make_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.note("sync folder", path);
        Disk.sync_dir(path)
    }

    fn names(&self, path: &Path) -> io::Result<Vec<String>> {
        Disk.names(path)
    }
}

impl File for NotedFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(into, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.seen.lock().unwrap().push(format!("write {}", self.name));
        self.file.write_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.seen.lock().unwrap().push(format!("sync {}", self.name));
        self.file.sync()
    }
}

#[test]
fn an_append_is_one_write_and_one_sync() {
    let scratch = Scratch::new();
    let seen = Seen::default();
    let noted = Arc::new(Noted { seen: seen.clone(), root: scratch.root() });
    let store = Arc::new(FilesStore::open_on(noted, &scratch.root(), Options::default()).unwrap());
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
    let noted = Arc::new(Noted { seen: seen.clone(), root: scratch.root() });
    let store = Arc::new(FilesStore::open_on(noted, &scratch.root(), Options::default()).unwrap());
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

//! Tests writes that copy events while a `gc` runs again and again.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use forklore_conformance::Scene;
use forklore_conformance::events::{turns, user};
use forklore_files::fs::{Disk, File, Fs, Open};
use forklore_files::{FilesStore, Options};
use forklore_store::Store;

use crate::scratch::{Scratch, handle};

/// The file system of the disk. Whenever the copy of a session's inherited events is complete, a
/// `gc` of another handle runs, unless the store is locked.
#[derive(Debug)]
struct Collected {
    root: PathBuf,
}

#[derive(Debug)]
struct CollectedFile {
    file: Box<dyn File>,
    collects: Option<PathBuf>,
}

impl Fs for Collected {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn File>> {
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_copy = how == Open::Create && name.contains(".prefix.");
        let collects = is_copy.then(|| self.root.clone());
        Ok(Box::new(CollectedFile { file: Disk.open(path, how)?, collects }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        Disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Disk.remove(path)
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        Disk.make_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        Disk.sync_dir(path)
    }

    fn names(&self, path: &Path) -> io::Result<Vec<String>> {
        Disk.names(path)
    }
}

impl File for CollectedFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(into, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.file.write_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()?;
        if let Some(root) = &self.collects {
            let impatient = Options { wait: Duration::ZERO, ..Options::default() };
            let _ = FilesStore::open(root, impatient).unwrap().gc();
        }
        Ok(())
    }
}

#[test]
fn a_detach_ends_although_a_gc_takes_every_copy_for_an_abandoned_one() {
    let scratch = Scratch::new();
    let fs = Arc::new(Collected { root: scratch.root() });
    let store = Arc::new(FilesStore::open_on(fs, &scratch.root(), Options::default()).unwrap());
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(3));
    scene.fork("a", "b", 4, vec![user("on")]);
    let before = scene.log("b");
    assert_eq!(scene.detach("b").copied_events, 4);
    scene.delete("a");
    store.gc().unwrap();
    assert_eq!(scene.log("b"), before);
    scene.assert_sound();
}

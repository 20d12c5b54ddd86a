//! Tests of a reader that looks for a session while another process creates that session.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use forklore_conformance::Scene;
use forklore_conformance::events::turns;
use forklore_conformance::scene::id;
use forklore_files::fs::{Disk, File, Fs, Open};
use forklore_files::{FilesStore, Options};
use forklore_store::Store;

use crate::scratch::{Scratch, handle};

type Act = Box<dyn FnOnce() + Send>;

/// The file system of the disk. When the file `at` is opened for the first time, `act` runs before
/// the reader continues.
struct Meanwhile {
    at: PathBuf,
    act: Mutex<Option<Act>>,
}

impl std::fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meanwhile").field("at", &self.at).finish_non_exhaustive()
    }
}

impl Fs for Meanwhile {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn File>> {
        let found = Disk.open(path, how);
        if path == self.at
            && let Some(act) = self.act.lock().unwrap().take()
        {
            act();
        }
        found
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

#[test]
fn a_session_that_is_made_during_the_search_is_found_and_not_damaged() {
    let scratch = Scratch::new();
    let writer = scratch.open();
    let make = || handle(&writer);
    let scene = Scene::new(&make);
    scene.root("a", turns(1));
    let new = scene.draft("b", turns(1));
    let act: Act = Box::new({
        let writer = writer.clone();
        move || {
            writer.create(new).unwrap();
        }
    });
    let fs = Meanwhile { at: scratch.file("b"), act: Mutex::new(Some(act)) };
    let reader = FilesStore::open_on(Arc::new(fs), &scratch.root(), Options::default()).unwrap();
    assert_eq!(reader.header(&id("b")).unwrap(), writer.header(&id("b")).unwrap());
}

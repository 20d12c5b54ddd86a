//! Tests writes that copy events while a `gc` runs again and again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use forklore_conformance::Scene;
use forklore_conformance::events::{turns, user};
use forklore_files::fs::Open;
use forklore_files::{FilesStore, Options};
use forklore_store::Store;

use crate::scratch::{Scratch, handle};
use crate::watched::{Operation, Watch, open_watched};

/// Whenever the copy of a session's inherited events is complete, a
/// `gc` of another handle runs, unless the store is locked.
#[derive(Debug)]
struct Collected {
    root: PathBuf,
}

impl Watch for Collected {
    fn after(&self, operation: Operation, path: &Path) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if operation == Operation::Sync(Open::Create) && name.contains(".prefix.") {
            let impatient = Options { wait: Duration::ZERO, ..Options::default() };
            let _ = FilesStore::open(&self.root, impatient).unwrap().gc();
        }
    }
}

#[test]
fn a_detach_ends_although_a_gc_takes_every_copy_for_an_abandoned_one() {
    let scratch = Scratch::new();
    let store = open_watched(&scratch, &Arc::new(Collected { root: scratch.root() }));
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

//! Tests of a reader that looks for a session while another process creates that session.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use forklore_conformance::Scene;
use forklore_conformance::events::turns;
use forklore_conformance::scene::id;
use forklore_store::Store;

use crate::scratch::{Scratch, handle};
use crate::watched::{Operation, Watch, open_watched};

type Act = Box<dyn FnOnce() + Send>;

/// When the file `at` is opened for the first time, `act` runs before the reader continues.
struct Meanwhile {
    at: PathBuf,
    act: Mutex<Option<Act>>,
}

impl std::fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meanwhile").field("at", &self.at).finish_non_exhaustive()
    }
}

impl Watch for Meanwhile {
    fn after(&self, operation: Operation, path: &Path) {
        if matches!(operation, Operation::Open(_))
            && path == self.at
            && let Some(act) = self.act.lock().unwrap().take()
        {
            act();
        }
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
    let meanwhile = Meanwhile { at: scratch.file("b"), act: Mutex::new(Some(act)) };
    let reader = open_watched(&scratch, &Arc::new(meanwhile));
    assert_eq!(reader.header(&id("b")).unwrap(), writer.header(&id("b")).unwrap());
}

//! Tests of closing a store: which files and locks remain.

use forklore_conformance::Scene;
use forklore_conformance::events::turns;

use crate::scratch::{Scratch, handle};

#[test]
fn nothing_is_left_to_write_back() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    // The scene also opens reading connections. They must be closed before the writing one.
    Scene::new(&make).root("a", turns(3));
    let wal = scratch.file().with_file_name("store.db-wal");
    assert!(wal.metadata().unwrap().len() > 0);
    drop(store);
    assert!(!wal.exists());
}

/// When a process closes a file, it loses all its locks on that file. Another program that does not
/// use the store's gate would then believe that nobody else uses the store, and would remove the
/// WAL that is in use.
#[cfg(target_os = "linux")]
#[test]
fn a_second_handle_keeps_the_locks_of_the_first() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(1));
    drop(scratch.open());
    let inode = std::os::unix::fs::MetadataExt::ino(&scratch.file().metadata().unwrap());
    let (ours, file) = (format!(" {} ", std::process::id()), format!(":{inode} "));
    let locks = std::fs::read_to_string("/proc/locks").unwrap();
    let pin = |line: &str| ["POSIX", &ours, &file].iter().all(|part| line.contains(part));
    assert!(locks.lines().any(pin), "no lock of{ours}on {inode} in\n{locks}");
}

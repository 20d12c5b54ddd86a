//! Tests what a closed store leaves for the next program that opens it.

use forklore_conformance::Scene;
use forklore_conformance::events::turns;

use crate::scratch::{Scratch, handle};

#[test]
fn nothing_is_left_to_write_back() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let make = || handle(&store);
    // There are reading connections too, which must not be the last to close.
    Scene::new(&make).root("a", turns(3));
    let wal = scratch.file().with_file_name("store.db-wal");
    assert!(wal.metadata().unwrap().len() > 0);
    drop(store);
    assert!(!wal.exists());
}

/// Closing a file drops the locks that the process has on it. A program that does not use the
/// store's gate then believes that it is the only one, and removes the WAL that others write to.
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

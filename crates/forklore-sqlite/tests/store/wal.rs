//! Tests that the WAL is written back while operations continue, and then restarts from its
//! beginning.

use forklore_conformance::Scene;
use forklore_conformance::events::turns;
use forklore_sqlite::{Checkpoints, Options};
use rusqlite::Connection;

use crate::scratch::{Scratch, handle};

const PAGES: u32 = 64;
/// Size of a database page in bytes.
const PAGE: u64 = 8 << 10;

fn options(in_step: bool) -> Options {
    let checkpoints = Checkpoints { every_pages: PAGES, in_step };
    Options { checkpoints, ..Options::default() }
}

fn wal(scratch: &Scratch) -> u64 {
    scratch.file().with_file_name("store.db-wal").metadata().unwrap().len()
}

#[test]
fn it_stays_short_however_much_is_appended() {
    for in_step in [false, true] {
        let scratch = Scratch::new();
        let store = scratch.open_with(options(in_step));
        let make = || handle(&store);
        let scene = Scene::new(&make);
        scene.root("a", turns(1));
        for _ in 0..1_000 {
            scene.append("a", turns(1));
        }
        if in_step {
            let (bytes, most) = (wal(&scratch), 8 * u64::from(PAGES) * PAGE);
            assert!(bytes < most, "{bytes} of at most {most}");
        }
        // A thread may come late, and the WAL is longer for a while.
        while pages(&scratch) >= PAGES {
            scene.append("a", turns(1));
        }
        scene.assert_sound();
    }
}

#[test]
fn a_long_reader_keeps_it_and_only_for_as_long() {
    let scratch = Scratch::new();
    let store = scratch.open_with(options(false));
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(1));
    let reader = Connection::open(scratch.file()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM session;").unwrap();
    reader.query_row("SELECT count(*) FROM session", [], |_| Ok(())).unwrap();
    for _ in 0..300 {
        scene.append("a", turns(1));
    }
    let stored = wal(&scratch);
    assert!(stored > 2 * u64::from(PAGES) * PAGE, "{stored}");
    reader.execute_batch("COMMIT").unwrap();
    // After a few appends the WAL restarts from its beginning, so that new pages reuse its file.
    while pages(&scratch) >= PAGES {
        scene.append("a", turns(1));
    }
    scene.assert_sound();
}

/// Returns the number of valid pages in the WAL, as another SQLite connection reports it.
fn pages(scratch: &Scratch) -> u32 {
    let conn = Connection::open(scratch.file()).unwrap();
    conn.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1)).unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn no_thread_is_left_behind() {
    let threads = || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        let names = tasks
            .filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).ok());
        names.filter(|name| name.starts_with("forklore-check")).count()
    };
    let scratch = Scratch::new();
    let store = scratch.open_with(options(false));
    let make = || handle(&store);
    let scene = Scene::new(&make);
    scene.root("a", turns(1));
    let mut seen = 0;
    for _ in 0..500 {
        scene.append("a", turns(1));
        seen = seen.max(threads());
    }
    assert!(seen > 0, "no checkpoint was seen");
    drop(scene);
    drop(store);
    // The system lists a thread for a moment after it has ended.
    while threads() > 0 {
        std::thread::yield_now();
    }
}

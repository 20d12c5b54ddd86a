//! A process may be killed at any moment while it updates an index.
//!
//! The killed process is this test program itself, started for the test `worker`.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use forklore_engine::{DeleteMode, Engine, NewEvent};

use crate::world::{Kind, create, delete, fork, found, id, scanned, search};

const STORE: &str = "FORKLORE_SEARCH_TEST_STORE";
const NAME: &str = "FORKLORE_SEARCH_TEST_NAME";
/// Number of processes that are killed.
const KILLS: u64 = 30;

/// Writes to a store and searches it, again and again.
fn work(engine: &Engine, name: &str, rounds: usize) {
    for round in 0..rounds {
        let (root, child) = (format!("{name}-{round}"), format!("{name}-{round}-c"));
        create(engine, &root, "/w");
        let turn = |at| NewEvent::user(&format!("question number{at}")).unwrap();
        engine.append(&id(&root), &(0..40).map(turn).collect::<Vec<_>>().into()).unwrap();
        fork(engine, &root, "index:20", &child);
        search(engine, "question");
        engine.append(&id(&child), &turn(40).into()).unwrap();
        search(engine, "question");
        let mode = if round % 2 == 0 { DeleteMode::Cascade } else { DeleteMode::DetachChildren };
        delete(engine, &root, mode);
        search(engine, "question");
    }
}

fn assert_sound(engine: &Engine) {
    for word in ["question", "number7", "number30", "number40"] {
        assert_eq!(found(engine, word), scanned(engine, &[word]));
    }
}

/// Works without end if another test started it. Otherwise this is a normal test of the work.
#[test]
fn worker() {
    let folder = tempfile::tempdir().unwrap();
    let requested = std::env::var_os(STORE).map(PathBuf::from);
    let store = requested.as_deref().unwrap_or(folder.path());
    let name = std::env::var(NAME).unwrap_or_else(|_| "worker".to_owned());
    let engine = open(store);
    println!("begun");
    work(&engine, &name, if requested.is_some() { usize::MAX } else { 2 });
    assert_sound(&engine);
}

/// Opens the store with the clock and the ids of the machine, so that processes make different ids.
fn open(folder: &Path) -> Engine {
    let path = Kind::Sqlite.store(folder);
    let store = forklore_sqlite::SqliteStore::open(&path, Default::default()).unwrap();
    Engine::new(std::sync::Arc::new(store))
}

fn start(store: &Path, name: &str) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["kill::worker", "--exact", "--nocapture"])
        .env(STORE, store)
        .env(NAME, name)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.contains("begun")));
    child
}

/// Returns a number below `limit` that the seed and `number` determine.
fn chance(seed: u64, number: u64, limit: u64) -> u64 {
    let hash = blake3::hash(format!("{seed} {number}").as_bytes());
    u64::from_le_bytes(hash.as_bytes()[..8].try_into().unwrap()) % limit
}

#[test]
fn kill_in_the_middle_of_an_update_leaves_a_right_index() {
    let seed = std::env::var("FORKLORE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("FORKLORE_SEED={seed}");
    let folder = tempfile::tempdir().unwrap();
    for number in 0..KILLS {
        // One process at a time, or two at once.
        let names = [format!("a{number}"), format!("b{number}")];
        let count = 1 + usize::try_from(number % 2).unwrap();
        let mut children: Vec<_> =
            names.iter().take(count).map(|name| start(folder.path(), name)).collect();
        std::thread::sleep(Duration::from_micros(chance(seed, number, 60_000)));
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        // In the other rounds, the next process finds the index exactly as the kill left it.
        if number % 3 == 0 {
            assert_sound(&open(folder.path()));
        }
    }
}

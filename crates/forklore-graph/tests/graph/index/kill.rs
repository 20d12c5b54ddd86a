//! A process may be killed at any moment while it updates an index.
//!
//! The killed process is this test program itself, started for the test `worker`.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use forklore_core::workspace::Workspace;
use forklore_engine::{Create, Delete, DeleteMode, Engine, Fork, NewEvent};
use forklore_graph::{Scope, Sessions};
use forklore_store::port::Filter;

use super::{Kind, assert_in_step, query};
use crate::family::id;

const STORE: &str = "FORKLORE_GRAPH_TEST_STORE";
const NAME: &str = "FORKLORE_GRAPH_TEST_NAME";
/// Number of processes that are killed.
const KILLS: u64 = 40;

/// Writes to a store and asks about it, again and again.
fn work(engine: &Engine, name: &str, rounds: usize) {
    for round in 0..rounds {
        let root = id(&format!("{name}-{round}"));
        let create = Create { id: Some(root.clone()), ..Create::in_workspace(Workspace::new("/")) };
        engine.create(&create).unwrap();
        let turn = |at| NewEvent::user(&format!("question {at}")).unwrap();
        engine.append(&root, &(0..40).map(turn).collect::<Vec<_>>().into()).unwrap();
        let child = engine.fork(&Fork::of(root.clone())).unwrap().child_session_id;
        ask(engine);
        engine.append(&child, &turn(40).into()).unwrap();
        engine.label(&child, &format!("label-{round}").parse().unwrap()).unwrap();
        ask(engine);
        let mode = if round % 2 == 0 { DeleteMode::Cascade } else { DeleteMode::DetachChildren };
        engine.delete(&Delete { session: root, mode, dry_run: false, erase: true }).unwrap();
        ask(engine);
    }
}

fn ask(engine: &Engine) {
    Sessions::of(engine).answer(&Scope::Everything, &query("ASK { ?s a fl:Session }")).unwrap();
}

/// Works without end if another test started it. Otherwise this is a normal test of the work.
#[test]
fn worker() {
    let folder = tempfile::tempdir().unwrap();
    let requested = std::env::var_os(STORE).map(PathBuf::from);
    let store = requested.as_deref().unwrap_or(folder.path());
    let name = std::env::var(NAME).unwrap_or_else(|_| "worker".to_owned());
    let engine = Kind::Sqlite.open(store);
    println!("begun");
    work(&engine, &name, if requested.is_some() { usize::MAX } else { 2 });
    assert_in_step(&engine, &Scope::Everything);
}

fn start(store: &Path, name: &str) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["index::kill::worker", "--exact", "--nocapture"])
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
    let mut updated = 0;
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
            let engine = Kind::Sqlite.open(folder.path());
            let everybody = Filter { deleted: true, ..Filter::default() };
            let all = engine.store().sessions(&everybody, None, 0).unwrap().sound.len();
            let read = assert_in_step(&engine, &Scope::Everything);
            updated += u64::from(read < u64::try_from(all).unwrap());
        }
    }
    assert!(updated > KILLS / 6, "the index was built anew after a kill: {updated}");
}

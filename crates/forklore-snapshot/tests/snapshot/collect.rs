//! Snapshots that nothing needs are removed; those that are needed never are, whatever is killed.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use forklore_snapshot::{Collected, Error, SnapshotId, Snapshots, Taking};

use crate::world::{World, git};

const FOLDER: &str = "FORKLORE_COLLECT_IN";
const NEEDED: &str = "FORKLORE_COLLECT";

fn collect(snapshots: &Snapshots, dry_run: bool, needed: &[SnapshotId]) -> Collected {
    let needed: BTreeSet<_> = needed.iter().copied().collect();
    snapshots.collect::<Error>(dry_run, || Ok(needed)).unwrap()
}

/// Bytes that do not become smaller, and are the same in each run.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..length.div_ceil(8)).flat_map(|_| next()).take(length).collect()
}

#[test]
fn what_nothing_needs_goes_and_the_rest_is_as_before() {
    let world = World::with_git();
    world.write("stays", noise(1, 100_000));
    let (then, needed) = (world.state(), world.take());
    world.write("goes", noise(2, 1_000_000));
    let rest = world.take();

    let plan = collect(&world.snapshots, true, &[needed.id]);
    assert_eq!((plan.removed, plan.needed), (1, 1));
    assert!((1_000_000..1_100_000).contains(&plan.freed), "{plan:?}");
    assert!(world.snapshots.has(rest.id));

    let done = collect(&world.snapshots, false, &[needed.id]);
    assert_eq!((done.removed, done.needed), (1, 1));
    assert!((1_000_000..1_100_000).contains(&done.freed), "{done:?}");
    assert_eq!((world.snapshots.has(needed.id), world.snapshots.has(rest.id)), (true, false));
    world.restore(needed.id);
    assert_eq!(world.state(), then);
}

#[test]
fn if_it_is_not_certain_what_is_needed_nothing_is_removed() {
    let world = World::new();
    world.write("a", "1");
    let id = world.take().id;
    let unknown = || Err(Error::Damaged { what: "a session".to_owned() });
    world.snapshots.collect::<Error>(false, unknown).unwrap_err();
    assert!(world.snapshots.has(id));
}

#[test]
fn the_size_of_many_snapshots_with_small_edits_is_bounded() {
    let world = World::in_memory();
    for number in 0..64 {
        world.write(&format!("folder-{}/{number}", number % 8), noise(number, 64 << 10));
    }
    world.take();
    let first = collect(&world.snapshots, true, &[]).bytes;
    for number in 0..100 {
        let path = format!("folder-{}/{}", number % 8, number % 64);
        let mut contents = fs::read(world.root().join(&path)).unwrap();
        contents.extend_from_slice(&noise(1000 + number, 80));
        world.write(&path, contents);
        world.take();
        world.snapshots.tidy().unwrap();
    }
    let packs = fs::read_dir(world.folder().join("snapshots/objects/pack")).unwrap();
    let packs = packs.filter(|entry| {
        entry.as_ref().unwrap().path().extension().is_some_and(|kind| kind == "pack")
    });
    let packs = packs.count();
    assert!(packs <= 64, "{packs} packs");
    let all: Vec<_> = ids(&world);
    assert_eq!(all.len(), 101);
    collect(&world.snapshots, false, &all);
    let last = collect(&world.snapshots, true, &all).bytes;
    assert!(last < first + first / 10, "{first} bytes became {last}");
}

fn ids(world: &World) -> Vec<SnapshotId> {
    let refs = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/snapshots"];
    git(&world.folder().join("snapshots"), &refs).lines().map(|id| id.parse().unwrap()).collect()
}

/// Removes snapshots, as a process of its own.
#[test]
fn worker() {
    let (Ok(folder), Ok(id)) = (env::var(FOLDER), env::var(NEEDED)) else { return };
    let snapshots = Snapshots::open(&Path::new(&folder).join("snapshots")).unwrap();
    println!("begins");
    collect(&snapshots, false, &[id.parse().unwrap()]);
}

#[test]
fn kill_it_at_any_moment_and_what_is_needed_is_there() {
    let world = World::in_memory();
    world.write("stays", noise(1, 10_000));
    let (then, needed) = (world.state(), world.take().id);
    let times: u64 = env::var("FORKLORE_SOAK").map_or(1, |times| times.parse().unwrap());
    for round in 0..10 * times {
        world.write("goes", noise(round, 100_000));
        world.take();
        let mut worker = Command::new(env::current_exe().unwrap());
        worker.args(["--exact", "collect::worker", "--nocapture"]);
        worker.env(FOLDER, world.folder()).env(NEEDED, needed.to_string());
        let mut worker = worker.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(worker.stdout.take().unwrap()).lines();
        lines.find(|line| line.as_ref().unwrap().contains("begins")).unwrap().unwrap();
        // The moments of the kills are spread over a collection, however fast it is.
        thread::sleep(Duration::from_millis(round * 9 % 90));
        worker.kill().unwrap();
        worker.wait().unwrap();
        // It works after each kill: the next one is not stopped by what is left.
        world.restore(needed);
        assert_eq!(world.state(), then, "round {round}");
    }
    let done = collect(&world.snapshots, false, &[needed]);
    assert_eq!(done.needed, 1);
    assert_eq!(ids(&world), [needed]);
    let size = collect(&world.snapshots, true, &[needed]).bytes;
    assert!(size < 50_000, "{size} bytes remain");
    git(&world.folder().join("snapshots"), &["fsck", "--strict", "--no-dangling"]);
}

#[test]
fn who_takes_a_snapshot_meanwhile_loses_nothing() {
    let world = World::in_memory();
    world.write("a", "0");
    let needed = world.take().id;
    thread::scope(|scope| {
        let taking = scope.spawn(|| {
            for round in 0..10 {
                world.write("a", format!("{round}"));
                let _shared = world.snapshots.share().unwrap();
                let id = world.snapshots.take(&world.root(), &Taking::default()).unwrap().id;
                assert!(world.snapshots.has(id), "round {round}");
            }
        });
        while !taking.is_finished() {
            collect(&world.snapshots, false, &[needed]);
        }
    });
    assert!(world.snapshots.has(needed));
}

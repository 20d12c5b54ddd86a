//! A restore or a merge that is killed at any moment is completed by the next command, and can be
//! undone.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use forklore_snapshot::{SnapshotId, Snapshots, Taking};

use crate::world::World;

const FOLDER: &str = "FORKLORE_RESTORE_IN";
const SNAPSHOT: &str = "FORKLORE_RESTORE";
const MERGED: &str = "FORKLORE_MERGE";
/// Enough for several threads.
const FILES: usize = 200;

/// Restores a snapshot, as a process of its own.
#[test]
fn worker() {
    let (Ok(folder), Ok(id)) = (env::var(FOLDER), env::var(SNAPSHOT)) else { return };
    let folder = Path::new(&folder);
    let snapshots = Snapshots::open(&folder.join("snapshots")).unwrap();
    println!("begins");
    let (id, taking) = (id.parse().unwrap(), Taking::default());
    snapshots.restore(&folder.join("project"), id, &[], &taking).unwrap();
    println!("ended");
}

/// Writes a state in which every third path is a file, a folder or missing.
fn fill(world: &World, shift: usize) {
    for number in 0..FILES {
        let path = world.root().join(format!("{number}"));
        fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)).ok();
        match (number + shift) % 3 {
            0 => world.write(&format!("{number}"), format!("file {number} {shift}")),
            1 => world.write(&format!("{number}/inside"), format!("folder {number} {shift}")),
            _ => {}
        }
    }
}

#[test]
fn kill_a_restore_at_any_moment_and_the_next_command_completes_it() {
    let world = World::in_memory();
    let times: u64 = env::var("FORKLORE_SOAK").map_or(1, |times| times.parse().unwrap());
    let mut killed = 0;
    for round in 0..20 * times {
        fill(&world, 0);
        let (then, snapshot) = (world.state(), world.take());
        fill(&world, 1);
        let later = world.state();
        let before = world.take();

        let mut worker = Command::new(env::current_exe().unwrap());
        worker.args(["--exact", "kills::worker", "--nocapture"]);
        worker.env(FOLDER, world.folder()).env(SNAPSHOT, snapshot.id.to_string());
        let mut worker = worker.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(worker.stdout.take().unwrap()).lines();
        lines.find(|line| line.as_ref().unwrap().contains("begins")).unwrap().unwrap();
        // The moments of the kills are spread over a restore, however fast it is.
        thread::sleep(Duration::from_millis(round * 7 % 140));
        worker.kill().unwrap();
        let ended = !worker.wait().unwrap().success();
        killed += u64::from(ended);

        let now = world.take();
        assert!(now.id == snapshot.id || now.id == before.id, "round {round}");
        assert!(world.state() == then || world.state() == later, "round {round}");
        world.restore(snapshot.id);
        assert_eq!(world.state(), then, "round {round}");
        world.restore(before.id);
        assert_eq!(world.state(), later, "round {round}");
    }
    println!("{killed} kills of restores");
}

/// Merges three snapshots and writes what comes out, as a process of its own.
#[test]
fn merger() {
    let (Ok(folder), Ok(ids)) = (env::var(FOLDER), env::var(MERGED)) else { return };
    let folder = Path::new(&folder);
    let ids: Vec<SnapshotId> = ids.split(' ').map(|id| id.parse().unwrap()).collect();
    let snapshots = Snapshots::open(&folder.join("snapshots")).unwrap();
    merge(&snapshots, &folder.join("project"), ids.as_slice().try_into().unwrap());
}

/// Merges a base, ours and theirs into a workspace whose state is ours.
fn merge(snapshots: &Snapshots, workspace: &Path, [base, ours, theirs]: [SnapshotId; 3]) {
    let merged = snapshots.merge(base, ours, theirs).unwrap();
    snapshots.revert(workspace, ours, merged.id, &[], &Taking::default()).unwrap();
}

/// What the one who waits for the moment of a kill sees.
#[derive(Debug, Clone, Copy)]
enum Step {
    Scratch(&'static str),
    Journal,
    Files(usize),
}

impl Step {
    fn is_reached(self, world: &World) -> bool {
        let names = |folder: &str| {
            let entries = fs::read_dir(world.folder().join(folder)).into_iter().flatten();
            entries.flatten().map(|entry| entry.path())
        };
        let begins = |path: &Path, with: &str| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(with))
        };
        match self {
            Self::Scratch(inside) => {
                names("snapshots").any(|path| begins(&path, "merge-") && path.join(inside).exists())
            }
            Self::Journal => names("snapshots/workspaces")
                .any(|path| path.extension().is_some_and(|kind| kind == "restore")),
            Self::Files(number) => {
                names("project").filter(|path| begins(path, "theirs")).count() >= number
            }
        }
    }
}

#[test]
fn kill_a_merge_at_each_step_and_the_next_command_completes_it_or_finds_what_was_before() {
    let steps = ["", "refs", "HEAD", "refs/heads/yours", "refs/heads/brought"].map(Step::Scratch);
    let files = [1, FILES / 4, FILES / 2, FILES].map(Step::Files);
    let mut killed = 0;
    for step in steps.into_iter().chain([Step::Journal]).chain(files) {
        let world = World::in_memory();
        world.write("text", "one\ntwo\nthree\nfour\n");
        let base = world.take().id;
        for number in 0..FILES {
            world.write(&format!("theirs-{number}"), "1");
        }
        world.write("text", "first\ntwo\nthree\nfour\n");
        let theirs = world.take().id;
        world.restore(base);
        world.write("text", "one\ntwo\nthree\nlast\n");
        let (before, ours) = (world.state(), world.take().id);
        let ids = [base, ours, theirs];

        let mut worker = Command::new(env::current_exe().unwrap());
        worker.args(["--exact", "kills::merger", "--nocapture"]).stdout(Stdio::null());
        worker.env(FOLDER, world.folder()).env(MERGED, ids.map(|id| id.to_string()).join(" "));
        let mut worker = worker.spawn().unwrap();
        while !step.is_reached(&world) && worker.try_wait().unwrap().is_none() {
            thread::yield_now();
        }
        worker.kill().unwrap();
        killed += u64::from(!worker.wait().unwrap().success());

        let found = world.take().id;
        if found == ours {
            assert_eq!(world.state(), before, "{step:?}");
            merge(&world.snapshots, &world.root(), ids);
        }
        assert_eq!(world.read("text"), "first\ntwo\nthree\nlast\n", "{step:?}");
        assert_eq!(world.state().len(), 1 + FILES, "{step:?}");
        world.snapshots.merge(base, ours, theirs).unwrap();
        assert!(!Step::Scratch("").is_reached(&world), "{step:?}");
        world.restore(ours);
        assert_eq!(world.state(), before, "{step:?}");
    }
    println!("{killed} kills of merges");
}

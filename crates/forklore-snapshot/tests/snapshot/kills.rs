//! A restore that is killed at any moment is completed by the next command, and can be undone.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use forklore_snapshot::{Snapshots, Taking};

use crate::world::World;

const FOLDER: &str = "FORKLORE_RESTORE_IN";
const SNAPSHOT: &str = "FORKLORE_RESTORE";
const FILES: usize = 60;

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
        std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path)).ok();
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

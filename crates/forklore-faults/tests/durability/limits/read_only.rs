//! A store whose user may read it only.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use forklore_faults::history::Call;
use forklore_faults::kind::Kind;
use forklore_faults::limits::{WRITES, shown};
use forklore_faults::process::{Process, Task, command};
use forklore_faults::work::TRUNK;

use crate::world::World;

/// A user without rights.
const NOBODY: u32 = 65_534;

#[test]
fn sqlite_in_a_folder_that_may_only_be_read() {
    is_read_and_left_alone(Kind::Sqlite, 0o500, 0o600);
}

#[test]
fn sqlite_of_files_that_may_only_be_read() {
    is_read_and_left_alone(Kind::Sqlite, 0o700, 0o400);
}

#[test]
fn sqlite_of_files_and_folders_that_may_only_be_read() {
    is_read_and_left_alone(Kind::Sqlite, 0o500, 0o400);
}

fn is_read_and_left_alone(kind: Kind, folders: u32, files: u32) {
    let mut world = World::new(kind, 0);
    let opened = world.place.open();
    let child = Call::Create {
        session: "child".into(),
        parent: Some(TRUNK.into()),
        kept: 5,
        copy: false,
        events: vec!["child.0".into()],
    };
    assert!(world.call("parent", &opened, &child).is_done());
    let mut expected = shown(&opened.engine).unwrap();
    drop(opened);
    expected.extend(WRITES.map(|verb| format!("{verb}: permission_denied")));
    let store = world.place.store_dir();
    give_away(world.place.path(), 0o755, 0o644);
    give_away(&store, folders, files);
    let before = snapshot(&store);
    let task = Task { work: "read".into(), ..world.task("reader", 0) };
    let (status, told) = as_nobody(&task, world.place.path()).ended::<String>();
    assert!(status.success(), "the process failed; it told {told:#?}");
    assert_eq!(told, expected);
    let mut after = snapshot(&store);
    // What a reader makes where it may hold no event.
    after.retain(|path, (_, len, _)| before.contains_key(path) || !is_scratch(path, *len));
    assert_eq!(after, before);
}

/// Whether a file is SQLite's index of its log, or a log without anything in it.
fn is_scratch(path: &Path, len: usize) -> bool {
    path.extension().is_some_and(|name| name == "db-shm") || len == 0
}

/// Starts the worker as a user whom rights mean something to.
fn as_nobody(task: &Task, place: &Path) -> Process {
    let program = Path::new(env!("CARGO_BIN_EXE_forklore-faults"));
    let start = |program: &Path| {
        let mut command = command(program, task);
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        Process::spawn(&mut command)
    };
    start(program).unwrap_or_else(|_| {
        // The program may stand where that user may not go.
        let copy = place.join("worker");
        fs::copy(program, &copy).unwrap();
        fs::set_permissions(&copy, Permissions::from_mode(0o755)).unwrap();
        start(&copy).unwrap()
    })
}

/// Gives everything in the folder to the user without rights, with these rights.
fn give_away(path: &Path, folders: u32, files: u32) {
    let found = fs::metadata(path).unwrap();
    if found.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give_away(&entry.unwrap().path(), folders, files);
        }
    }
    if rustix::process::geteuid().is_root() {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let mode = if found.is_dir() { folders } else { files };
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Every file and folder with its rights, its length and a sum of its bytes.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, (u32, usize, u64)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let found = fs::metadata(&path).unwrap();
        if found.is_dir() {
            all.extend(snapshot(&path));
        }
        let bytes = if found.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        let sum = bytes
            .iter()
            .fold(7, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
        all.insert(path, (found.mode(), bytes.len(), sum));
    }
    all
}

//! Tests with a store that its user may read but not write.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use forklore_faults::check::log;
use forklore_faults::history::Call;
use forklore_faults::kind::Kind;
use forklore_faults::limits::{WRITES, shown};
use forklore_faults::process::{Process, Task, command};
use forklore_faults::work::TRUNK;

use crate::world::{World, for_each_store};

/// The permissions, size and checksum of each file and directory.
type Snapshot = BTreeMap<PathBuf, (u32, usize, u64)>;

/// The id of a user and group without any permissions of their own.
const NOBODY: u32 = 65_534;

for_each_store!(folders_that_may_only_be_read, files_that_may_only_be_read, neither_may_be_written);

fn folders_that_may_only_be_read(kind: Kind) {
    let mut reader = Reader::of(kind, 0o500, 0o600);
    let reported = reader.read();
    if kind == Kind::Files && reported.contains(&"append was done".to_owned()) {
        // The session's own file is writable, and an append writes to no other file.
        return reader.assert_only_appended(&reported);
    }
    reader.assert_left_alone(&reported);
}

fn files_that_may_only_be_read(kind: Kind) {
    let mut reader = Reader::of(kind, 0o700, 0o400);
    let reported = reader.read();
    reader.assert_left_alone(&reported);
}

fn neither_may_be_written(kind: Kind) {
    let mut reader = Reader::of(kind, 0o500, 0o400);
    let reported = reader.read();
    reader.assert_left_alone(&reported);
}

/// A store that belongs to another user, who may only read it, and the expected contents.
struct Reader {
    world: World,
    shown: Vec<String>,
    before: Snapshot,
}

impl Reader {
    fn of(kind: Kind, folders: u32, files: u32) -> Self {
        let mut world = World::new(kind, 0);
        let opened = world.folder.open();
        let child = Call::Create {
            session: "child".into(),
            parent: Some(TRUNK.into()),
            inheritable: 5,
            copy: false,
            events: vec!["child.0".into()],
        };
        assert!(world.call("parent", &opened, &child).is_done());
        let shown = shown(&opened.engine).unwrap();
        drop(opened);
        let store = world.folder.store_dir();
        give_away(world.folder.path(), NOBODY, 0o755, 0o644);
        give_away(&store, NOBODY, folders, files);
        Self { before: snapshot(&store), world, shown }
    }

    /// Runs the worker as the store's user and returns the lines that the worker prints.
    fn read(&mut self) -> Vec<String> {
        let task = Task { work: "read".into(), ..self.world.task("reader", 0) };
        let (status, reported) = as_nobody(&task, self.world.folder.path()).ended::<String>();
        assert!(status.success(), "the process failed; it told {reported:#?}");
        reported
    }

    fn assert_left_alone(&self, reported: &[String]) {
        let denied = WRITES.map(|verb| format!("{verb}: permission_denied"));
        let expected: Vec<_> = self.shown.iter().chain(&denied).collect();
        assert_eq!(reported.iter().collect::<Vec<_>>(), expected);
        let mut after = snapshot(&self.world.folder.store_dir());
        // Scratch files that a reader creates are ignored, because they contain no events.
        after.retain(|path, (_, len, _)| self.before.contains_key(path) || !is_scratch(path, *len));
        assert_eq!(after, self.before);
    }

    fn assert_only_appended(&self, reported: &[String]) {
        let done = ["append was done", "gc was done"];
        let written = WRITES.map(|verb| {
            let done = done.iter().find(|done| done.starts_with(verb));
            done.map_or_else(|| format!("{verb}: permission_denied"), ToString::to_string)
        });
        let expected: Vec<_> = self.shown.iter().chain(&written).collect();
        assert_eq!(reported.iter().collect::<Vec<_>>(), expected);
        // Gives the store back to the user of this test, who must find one more event.
        let me = rustix::process::geteuid().as_raw();
        give_away(&self.world.folder.store_dir(), me, 0o700, 0o600);
        let opened = self.world.folder.open();
        assert_eq!(log(&opened, TRUNK).unwrap().len(), 701);
        assert_eq!(opened.store().verify(None).unwrap().problems, []);
    }
}

/// Checks whether a file is the shared-memory index of SQLite's WAL, or an empty file such as an
/// empty WAL.
fn is_scratch(path: &Path, len: usize) -> bool {
    path.extension().is_some_and(|name| name == "db-shm") || len == 0
}

/// Starts the worker as a user other than root, because permissions do not apply to root.
fn as_nobody(task: &Task, location: &Path) -> Process {
    let program = Path::new(env!("CARGO_BIN_EXE_forklore-faults"));
    let start = |program: &Path| {
        let mut command = command(program, task);
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        Process::spawn(&mut command)
    };
    start(program).unwrap_or_else(|_| {
        // The program may be in a directory that this user cannot enter, so a copy is started.
        let copy = location.join("worker");
        fs::copy(program, &copy).unwrap();
        fs::set_permissions(&copy, Permissions::from_mode(0o755)).unwrap();
        start(&copy).unwrap()
    })
}

/// Changes the owner and the permissions of everything in the directory, and of the directory.
fn give_away(path: &Path, user: u32, folders: u32, files: u32) {
    let found = fs::metadata(path).unwrap();
    if found.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give_away(&entry.unwrap().path(), user, folders, files);
        }
    }
    if rustix::process::geteuid().is_root() {
        chown(path, Some(user), Some(user)).unwrap();
    }
    let mode = if found.is_dir() { folders } else { files };
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Returns every file and directory below `folder`, with its permissions, size and checksum.
fn snapshot(folder: &Path) -> Snapshot {
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

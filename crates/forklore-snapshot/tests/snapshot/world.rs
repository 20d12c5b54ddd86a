//! A workspace with a repository of snapshots, and what the file system says about it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use forklore_snapshot::{Restored, Snapshot, SnapshotId, Snapshots, Taking};
use tempfile::TempDir;

/// What is at a path: its permissions and its contents, with the kind before them.
pub(crate) type State = BTreeMap<Vec<u8>, (u32, Vec<u8>)>;

pub(crate) struct World {
    folder: TempDir,
    pub(crate) snapshots: Snapshots,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::of(tempfile::tempdir().unwrap())
    }

    /// A workspace in memory, where a sync costs nothing.
    pub(crate) fn in_memory() -> Self {
        Self::of(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }

    fn of(folder: TempDir) -> Self {
        fs::create_dir(folder.path().join("project")).unwrap();
        let snapshots = Snapshots::open(&folder.path().join("snapshots")).unwrap();
        Self { folder, snapshots }
    }

    /// A workspace that is a repository of git with a commit.
    pub(crate) fn with_git() -> Self {
        let world = Self::new();
        world.git(&["init", "--quiet", "--initial-branch=main"]);
        world.write("README", "hello");
        world.write(".gitignore", "ignored/\n*.log\n");
        world.git(&["add", "."]);
        world.git(&["commit", "--quiet", "--message=first"]);
        world
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(&self.root(), args)
    }

    pub(crate) fn write(&self, path: &str, contents: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.root().join(path).symlink_metadata().is_ok()
    }

    pub(crate) fn take(&self) -> Snapshot {
        self.snapshots.take(&self.root(), &Taking::default()).unwrap()
    }

    pub(crate) fn restore(&self, id: SnapshotId) -> Restored {
        self.snapshots.restore(&self.root(), id, &[], &Taking::default()).unwrap()
    }

    pub(crate) fn state(&self) -> State {
        state(&self.root())
    }
}

/// Runs git as a user of the tests.
pub(crate) fn git(folder: &Path, args: &[&str]) -> String {
    let mut git = Command::new("git");
    git.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for role in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{role}_NAME"), "Ada")
            .env(format!("GIT_{role}_EMAIL"), "ada@example.org");
        git.env(format!("GIT_{role}_DATE"), "2026-01-01T00:00:00Z");
    }
    let done = git.args(args).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// Returns everything below a folder, byte for byte and mode for mode.
pub(crate) fn state(folder: &Path) -> State {
    let mut state = State::new();
    add(folder, folder, &mut state);
    state
}

fn add(root: &Path, folder: &Path, state: &mut State) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        let contents = if metadata.is_dir() {
            add(root, &path, state);
            b"folder".to_vec()
        } else if metadata.is_symlink() {
            [b"link ", fs::read_link(&path).unwrap().as_os_str().as_bytes()].concat()
        } else {
            [b"file ".to_vec(), fs::read(&path).unwrap()].concat()
        };
        let name = path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec();
        state.insert(name, (metadata.permissions().mode() & 0o7777, contents));
    }
}

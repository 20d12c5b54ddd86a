//! Worktrees whose making or removal is killed at each of its steps. The next command finishes it,
//! takes it back, or `worktrees` names it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "these are tests: a broken expectation ends the case"
)]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use forklore_snapshot::{Snapshots, Taking};
use forklore_workspace::{Error, NewWorktree, WorkspaceFiles};

const FOLDER: &str = "FORKLORE_KILLED_IN";
const REMOVES: &str = "FORKLORE_KILLED_REMOVES";
const FILES: usize = 240;

/// Where the worktree is while it is deleted.
const ASIDE: &str = ".forklore-removed-1-0";

/// The moments of the kills: what the one who waits for them sees.
const STEPS: [Step; 17] = [
    Step::Line("begun"),
    Step::There("repository/.git/worktrees/tree"),
    Step::There("repository/.git/worktrees/tree/locked"),
    Step::There("repository/.git/worktrees/tree/HEAD"),
    Step::There("tree/.git"),
    Step::There("repository/.git/worktrees/tree/index.lock"),
    Step::There("repository/.git/worktrees/tree/index"),
    Step::Files(1),
    Step::Files(FILES / 4),
    Step::Files(FILES / 2),
    Step::Files(FILES - 1),
    Step::Line("complete"),
    Step::Line("removing"),
    Step::Line("moved"),
    Step::Gone("tree"),
    Step::Gone("repository/.git/worktrees/tree"),
    Step::Line("removed"),
];

#[derive(Debug, Clone, Copy)]
enum Step {
    /// The record has a line of a kind.
    Line(&'static str),
    There(&'static str),
    Gone(&'static str),
    /// The folder has at least, or while it is removed at most, so many files.
    Files(usize),
}

impl Step {
    fn is_reached(self, world: &Path, removes: bool) -> bool {
        let there = |path: &str| world.join(path).symlink_metadata().is_ok();
        match self {
            Self::Line(kind) => {
                let record = fs::read_to_string(world.join("snapshots/worktrees/record.jsonl"));
                record.is_ok_and(|text| text.contains(&format!("{{\"{kind}\"")))
            }
            Self::There(path) => there(path),
            Self::Gone(path) => !there(path),
            Self::Files(number) => {
                let files = count(&world.join("tree")) + count(&world.join(ASIDE));
                if removes { files <= number } else { files >= number }
            }
        }
    }
}

/// Returns the number of files in the folders of a folder.
fn count(folder: &Path) -> usize {
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    entries(folder).map(|entry| entries(&entry.path()).count()).sum()
}

/// A repository with files, and snapshots.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let world = Self { folder };
        let repository = world.path("repository");
        for number in 0..FILES {
            let part = repository.join(format!("part-{}", number / 20));
            fs::create_dir_all(&part).unwrap();
            fs::write(part.join(number.to_string()), number.to_string()).unwrap();
        }
        git(&repository, &["init", "-q", "-b", "main"]);
        git(&repository, &["add", "."]);
        git(&repository, &["commit", "-q", "-m", "first"]);
        fs::write(repository.join("part-0/0"), "changed").unwrap();
        git(&repository, &["status"]);
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join(name)
    }

    fn files(&self) -> WorkspaceFiles {
        WorkspaceFiles::open(&self.path("snapshots"), Vec::new())
    }

    /// Starts a process that makes or removes the worktree, and kills it at a step. Returns whether
    /// it had not ended before.
    fn kill_at(&self, step: Step, removes: bool) -> bool {
        let mut worker = Command::new(env::current_exe().unwrap());
        worker.args(["--exact", "worker", "--nocapture"]).stdout(Stdio::null());
        worker.env(FOLDER, self.path("")).env(REMOVES, if removes { "1" } else { "" });
        let mut worker: Child = worker.spawn().unwrap();
        let folder = self.path("");
        while !step.is_reached(&folder, removes) && worker.try_wait().unwrap().is_none() {
            thread::yield_now();
        }
        worker.kill().unwrap();
        !worker.wait().unwrap().success()
    }
}

/// Makes or removes a worktree, as a process of its own.
#[test]
fn worker() {
    let Ok(folder) = env::var(FOLDER) else { return };
    let folder = Path::new(&folder);
    let files = WorkspaceFiles::open(&folder.join("snapshots"), Vec::new());
    if env::var(REMOVES).is_ok_and(|removes| !removes.is_empty()) {
        files.remove_worktree(&folder.join("tree")).unwrap();
    } else {
        files.create_worktree(&request(folder)).unwrap();
    }
}

fn request(folder: &Path) -> NewWorktree {
    let snapshots = Snapshots::open(&folder.join("snapshots")).unwrap();
    let workspace = folder.join("repository");
    let state = snapshots.take(&workspace, &Taking::default()).unwrap();
    let (session, folder) = ("fork".parse().unwrap(), folder.join("tree"));
    NewWorktree { session, workspace, folder, snapshot: state.id, commit: state.commit }
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(arguments);
    let done = git.output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

type Tree = BTreeMap<Vec<u8>, (u32, Vec<u8>)>;

/// Everything in a folder.
fn tree(folder: &Path) -> Tree {
    let (mut found, mut open) = (Tree::new(), vec![folder.to_path_buf()]);
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let about = fs::symlink_metadata(&path).unwrap();
            let contents = if about.is_dir() {
                open.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).unwrap()
            };
            let name = path.strip_prefix(folder).unwrap().as_os_str().as_bytes().to_vec();
            found.insert(name, (about.permissions().mode(), contents));
        }
    }
    found
}

/// Everything in a worktree but the file that leads to its entry.
fn files_of(folder: &Path) -> Tree {
    let mut found = tree(folder);
    found.remove(b".git".as_slice());
    found
}

#[test]
fn kill_the_making_of_a_worktree_at_each_step_and_the_next_command_takes_it_back() {
    let mut killed = 0;
    for step in &STEPS[..12] {
        let world = World::new();
        let (repository, folder) = (world.path("repository"), world.path("tree"));
        let before = tree(&repository);
        killed += usize::from(world.kill_at(*step, false));

        let files = world.files();
        match files.remove_worktree(&folder) {
            Ok(removed) => assert_eq!(removed.worktree.folder, folder, "{step:?}"),
            // Nothing was begun, or the record says that it was taken back.
            Err(error) => assert!(matches!(error, Error::NotOurs { .. }), "{step:?}: {error}"),
        }
        assert_eq!((files.worktrees().unwrap(), folder.exists()), (Vec::new(), false), "{step:?}");
        assert_eq!(tree(&repository), before, "{step:?}");
        let made = files.create_worktree(&request(&world.path(""))).unwrap();
        let work = before.into_iter().filter(|(path, _)| !path.starts_with(b".git"));
        assert_eq!(files_of(&made.folder), work.collect(), "{step:?}");
    }
    println!("{killed} kills of makings of worktrees");
}

#[test]
fn kill_the_removal_of_a_worktree_at_each_step_and_the_next_command_completes_it() {
    let mut killed = 0;
    for step in STEPS[7..11].iter().rev().chain(&STEPS[12..]) {
        let world = World::new();
        let (repository, folder) = (world.path("repository"), world.path("tree"));
        let before = tree(&repository);
        let files = world.files();
        let made = files.create_worktree(&request(&world.path(""))).unwrap();
        fs::write(folder.join("part-1/result"), "42").unwrap();
        let last = files_of(&folder);
        killed += usize::from(world.kill_at(*step, true));

        let listed = files.worktrees().unwrap();
        if let [listed] = listed.as_slice() {
            assert_eq!((&listed.folder, listed.busy), (&made.folder, false), "{step:?}");
            let removed = files.remove_worktree(&folder).unwrap();
            let snapshots = Snapshots::open(&world.path("snapshots")).unwrap();
            snapshots.copy_to(&world.path("again"), removed.snapshot.unwrap(), None).unwrap();
            assert_eq!(tree(&world.path("again")), last, "{step:?}");
        }
        assert_eq!((files.worktrees().unwrap(), folder.exists()), (Vec::new(), false), "{step:?}");
        assert!(!world.path(ASIDE).exists(), "{step:?}");
        assert_eq!(tree(&repository), before, "{step:?}");
    }
    println!("{killed} kills of removals of worktrees");
}

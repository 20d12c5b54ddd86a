//! Measures snapshots of files, beside what git does with the same files.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use forklore_snapshot::{Snapshots, Taking};

use crate::error::{Doing, Error, Result};
use crate::figure::{Figure, Goal, Unit};
use crate::numbers::Numbers;
use crate::samples::{Rival, Samples, in_turns, pair, timed};
use crate::scene::Scene;
use crate::thousands::grouped;

const ROUNDS: usize = 20;
/// A copy of a tree takes seconds.
const COPIES: usize = 3;
/// The files of a folder.
const PER_FOLDER: usize = 100;

pub(super) fn measure(scene: &Scene) -> Result<Vec<Figure>> {
    let mut figures = against_git(scene)?;
    figures.extend(growth(scene)?);
    Ok(figures)
}

/// A folder with files, and the snapshots of it.
struct Tree {
    root: PathBuf,
    snapshots: Snapshots,
    /// The number of the next edit.
    edit: Cell<usize>,
    files: usize,
}

impl Tree {
    /// Writes `files` files of `size` random bytes each.
    fn of(folder: &Path, files: usize, size: usize) -> Result<Self> {
        let root = folder.join("project");
        let mut numbers = Numbers::new(1);
        for first in (0..files).step_by(PER_FOLDER) {
            let part = root.join(format!("part-{first}"));
            fs::create_dir_all(&part).doing("cannot create", &part)?;
            for number in first..files.min(first + PER_FOLDER) {
                let path = part.join(format!("file-{number}.txt"));
                fs::write(&path, numbers.bytes(size)).doing("cannot write", &path)?;
            }
        }
        let snapshots = Snapshots::open(&folder.join("snapshots"))?;
        Ok(Self { root, snapshots, edit: Cell::new(0), files })
    }

    /// Appends a line to one file, another one each time.
    fn change(&self) -> Result<()> {
        let edit = self.edit.get();
        self.edit.set(edit + 1);
        // A prime: the edits are spread over the folders.
        let number = edit * 7_919 % self.files;
        let folder = self.root.join(format!("part-{}", number / PER_FOLDER * PER_FOLDER));
        let path = folder.join(format!("file-{number}.txt"));
        let mut bytes = fs::read(&path).doing("cannot read", &path)?;
        bytes.extend(format!("\nedit {edit}\n").bytes());
        fs::write(&path, bytes).doing("cannot write", &path)
    }

    fn take(&self) -> Result<Duration> {
        timed(|| Ok(self.snapshots.take(&self.root, &Taking::default())?))
    }

    fn git(&self, args: &[&str]) -> Result<Duration> {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=bench", "-c", "user.email=bench", "-c", "gc.auto=0"]);
        git.args(args).current_dir(&self.root);
        timed(|| {
            let done = git.output().doing("cannot start", Path::new("git"))?;
            if done.status.success() {
                return Ok(());
            }
            let output = String::from_utf8_lossy(&done.stderr).into_owned();
            Err(Error::Program { command: format!("{git:?}"), status: done.status, output })
        })
    }
}

/// Compares snapshots of a repository of git with git's own commands.
fn against_git(scene: &Scene) -> Result<Vec<Figure>> {
    let files = scene.sizes.files;
    let folder = scene.folder()?;
    let tree = Tree::of(folder.path(), files, 400)?;
    tree.git(&["init", "--quiet"])?;
    tree.git(&["add", "."])?;
    tree.git(&["commit", "--quiet", "--message", "first"])?;
    tree.take()?;
    tree.git(&["status", "--porcelain"])?;
    let rounds = scene.rounds(ROUNDS);
    let (status, clean) = pair(rounds, || tree.git(&["status", "--porcelain"]), || tree.take())?;
    let mut rivals: [Rival<'_>; 3] = [
        Box::new(|| tree.change().and_then(|()| tree.git(&["status", "--porcelain"]))),
        Box::new(|| tree.change().and_then(|()| tree.git(&["stash", "create"]))),
        Box::new(|| tree.change().and_then(|()| tree.take())),
    ];
    let samples = in_turns(rounds, &mut rivals)?;
    drop(rivals);
    let [changed_status, stash, changed] = samples.as_slice() else {
        return Err(Error::Wrong("three measurements were wanted".into()));
    };
    let of = format!("{} files", grouped(files));
    let ratio = |what: &str, goal, base: &Samples, other: &Samples| {
        Figure::ratio(format!("{of}: {what}"), goal, base, other)
    };
    let (worktree, copy) = copies(&tree, folder.path())?;
    Ok(vec![
        ratio("a snapshot without a change against `git status`", Goal::None, &status, &clean),
        ratio(
            "a snapshot after one changed file against `git status`",
            Goal::AtMost(1.5),
            changed_status,
            changed,
        ),
        ratio("the same against `git stash create`", Goal::None, stash, changed),
        ratio(
            "a snapshot written into a folder against `git worktree add`",
            Goal::AtMost(1.2),
            &worktree,
            &copy,
        ),
    ])
}

/// Times `git worktree add`, and a snapshot that is written into an empty folder.
fn copies(tree: &Tree, folder: &Path) -> Result<(Samples, Samples)> {
    let id = tree.snapshots.take(&tree.root, &Taking::default())?.id;
    tree.git(&["add", "--all"])?;
    tree.git(&["commit", "--quiet", "--message", "second"])?;
    let (theirs, ours) = (folder.join("theirs"), folder.join("ours"));
    let name = theirs.to_string_lossy().into_owned();
    pair(
        COPIES,
        || {
            let took = tree.git(&["worktree", "add", "--quiet", "--detach", &name])?;
            tree.git(&["worktree", "remove", "--force", &name])?;
            Ok(took)
        },
        || {
            let took = timed(|| Ok(tree.snapshots.copy_to(&ours, id, None)?))?;
            fs::remove_dir_all(&ours).doing("cannot remove", &ours)?;
            Ok(took)
        },
    )
}

/// Measures the snapshots of a large folder without git, and what many of them take.
fn growth(scene: &Scene) -> Result<Vec<Figure>> {
    let (files, size) = scene.sizes.large_tree;
    let folder = scene.folder()?;
    let tree = Tree::of(folder.path(), files, size)?;
    let began = Instant::now();
    tree.take()?;
    let first = began.elapsed().as_secs_f64();
    let snapshots = scene.sizes.snapshots;
    let mut each = Samples::default();
    for _ in 0..snapshots {
        tree.change()?;
        each.add(tree.take()?);
    }
    let stored = size_of(&folder.path().join("snapshots"))? as f64;
    let contents = (files * size) as f64;
    let megabytes = |bytes: f64| format!("{:.1} MB", bytes / 1e6);
    let of = format!("{} files, {}, without git", grouped(files), megabytes(contents));
    let many = grouped(snapshots);
    let stored_against = format!("{of}: {many} snapshots with small edits against the files");
    let median = each.median().as_secs_f64() * 1e3;
    Ok(vec![
        Figure::alone(format!("{of}: the first snapshot"), Goal::None, first, Unit::Seconds),
        Figure::alone(
            format!("{of}: a snapshot after one changed file"),
            Goal::None,
            median,
            Unit::Milliseconds,
        )
        .from(each.to_string(), ""),
        Figure::alone(stored_against, Goal::AtMost(1.1), stored / contents, Unit::Times)
            .from(megabytes(stored), megabytes(contents)),
    ])
}

/// Returns the bytes of all files below a folder.
fn size_of(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).doing("cannot open", folder)? {
        let entry = entry.doing("cannot read", folder)?;
        let metadata = entry.metadata().doing("cannot read", &entry.path())?;
        bytes += if metadata.is_dir() { size_of(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}

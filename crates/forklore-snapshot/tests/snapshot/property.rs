//! What holds for every tree: a restored snapshot is the state that was taken, and the restore of
//! the state before is the identity.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tempfile::TempDir;

use crate::world::{State, World, git, state};

/// One step of somebody who works in a folder.
#[derive(Debug, Clone)]
enum Step {
    Write(PathBuf, Vec<u8>, u32),
    Link(PathBuf, Vec<u8>),
    Folder(PathBuf, u32),
    Remove(PathBuf),
    Mode(PathBuf, u32),
}

/// Names that have been trouble: not UTF-8, quotes, line ends, equal but for case, names that other
/// systems refuse or that git gives a meaning.
const NAMES: [&[u8]; 18] = [
    b"a",
    b"A",
    b"b",
    b"module",
    b"nested",
    b"c.txt",
    b"\xff\xfe",
    b"with space",
    b"new\nline",
    b"quote\"back\\slash",
    b"git~1",
    b"a:b",
    b"-n",
    b".gitattributes",
    b".gitmodules",
    b"COM1",
    b"\xc3\xa4",
    b"a\xcc\x88",
];

fn path() -> impl Strategy<Value = PathBuf> {
    let name = (0..NAMES.len()).prop_map(|at| OsStr::from_bytes(NAMES[at]).to_owned());
    prop::collection::vec(name, 1..4).prop_map(|names| names.into_iter().collect())
}

fn step() -> impl Strategy<Value = Step> {
    let mode = prop::sample::select(vec![0o644, 0o755, 0o600, 0o700, 0o664, 0o444, 0o640, 0o775]);
    let folder = prop::sample::select(vec![0o755, 0o700, 0o775, 0o750, 0o555]);
    let lfs = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n".to_vec();
    let contents = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        Just(b"one\r\ntwo\r\n".to_vec()),
        Just(b"* text=auto eol=lf filter=lfs ident\n".to_vec()),
        Just(b"$Id$\n".to_vec()),
        Just(lfs),
    ];
    let target =
        prop_oneof![Just(b"a".to_vec()), Just(b"../..".to_vec()), Just(b"/etc/\xff".to_vec())];
    prop_oneof![
        8 => (path(), contents, mode.clone()).prop_map(|(path, bytes, mode)| Step::Write(path, bytes, mode)),
        2 => (path(), target).prop_map(|(path, target)| Step::Link(path, target)),
        2 => (path(), folder).prop_map(|(path, mode)| Step::Folder(path, mode)),
        3 => path().prop_map(Step::Remove),
        2 => (path(), mode).prop_map(|(path, mode)| Step::Mode(path, mode)),
    ]
}

impl Step {
    /// Does the step. One that is not possible, for example below a file, does nothing.
    fn run(&self, root: &Path) {
        let parent = |path: &Path| fs::create_dir_all(path.parent().unwrap_or(path));
        match self {
            Self::Write(path, bytes, mode) => {
                let path = root.join(path);
                if is_inside(root, &path) && parent(&path).is_ok() && !path.is_symlink() {
                    fs::remove_file(&path).ok();
                    if fs::write(&path, bytes).is_ok() {
                        fs::set_permissions(path, fs::Permissions::from_mode(*mode)).unwrap();
                    }
                }
            }
            Self::Link(path, target) => {
                let path = root.join(path);
                if is_inside(root, &path) && parent(&path).is_ok() {
                    symlink(OsStr::from_bytes(target), path).ok();
                }
            }
            Self::Folder(path, mode) => {
                let path = root.join(path);
                // The permissions of a link would be those of a folder outside, such as `/dev/shm`.
                let is_own = is_inside(root, &path) && !path.is_symlink();
                if is_own && fs::create_dir_all(&path).is_ok() {
                    fs::set_permissions(path, fs::Permissions::from_mode(*mode)).unwrap();
                }
            }
            Self::Remove(path) => {
                let path = root.join(path);
                if is_inside(root, &path) && fs::remove_file(&path).is_err() {
                    fs::remove_dir_all(path).ok();
                }
            }
            Self::Mode(path, mode) => {
                let path = root.join(path);
                let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
                if is_inside(root, &path) && is_file {
                    fs::set_permissions(path, fs::Permissions::from_mode(*mode)).unwrap();
                }
            }
        }
    }
}

/// Returns whether no link leads to a path.
fn is_inside(root: &Path, path: &Path) -> bool {
    let above = path.ancestors().skip(1).take_while(|above| *above != root);
    above.into_iter().all(|above| !above.is_symlink())
}

/// The trees of a test run. `FORKLORE_TREES` is the number of them.
fn trees() -> u32 {
    std::env::var("FORKLORE_TREES").map_or(60, |number| number.parse().unwrap())
}

/// The seed of a test run. `FORKLORE_SEED` repeats the run that printed it.
fn seed() -> u64 {
    std::env::var("FORKLORE_SEED").map_or(1, |seed| seed.parse().unwrap())
}

/// Tries a property with generated values, in several threads.
fn hold<S: Strategy>(
    number: u32,
    strategy: impl Fn() -> S + Sync,
    property: impl Fn(S::Value) + Sync,
) {
    let threads = 4;
    thread::scope(|scope| {
        for thread in 0..threads {
            let (strategy, property) = (&strategy, &property);
            scope.spawn(move || {
                let mut bytes = [0; 32];
                bytes[..8].copy_from_slice(&seed().to_le_bytes());
                bytes[8] = thread;
                let cases = number.div_ceil(u32::from(threads));
                let config = Config { failure_persistence: None, ..Config::with_cases(cases) };
                let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
                let mut runner = TestRunner::new_with_rng(config, random);
                let run = |value| {
                    property(value);
                    Ok(())
                };
                runner.run(&strategy(), run).unwrap();
            });
        }
    });
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 0..30)
}

#[test]
fn a_restored_snapshot_is_the_state_of_then_and_its_undo_that_of_before() {
    let beginnings = Beginnings::new();
    let strategy = || (0..Beginnings::NUMBER, steps(), steps());
    println!("seed {}: {} trees restored", seed(), trees());
    hold(trees(), strategy, |(beginning, first, second)| {
        let world = beginnings.world(beginning);
        first.iter().for_each(|step| step.run(&world.root()));
        let (then, snapshot) = (without_git(world.state()), world.take());
        assert_eq!(world.take().id, snapshot.id);
        second.iter().for_each(|step| step.run(&world.root()));
        let later = without_git(world.state());

        let restored = world.restore(snapshot.id);
        assert_eq!(restored.skipped, []);
        assert_eq!(without_git(world.state()), then);
        assert_eq!(world.take().id, snapshot.id);

        // What is ignored is in no snapshot, so a copy has it not.
        let copy = world.folder().join("copy");
        world.snapshots.copy_to(&copy, snapshot.id, Some(&world.root())).unwrap();
        let not_ignored = |(path, _): &(&Vec<u8>, _)| !path.starts_with(b"ignored");
        let expected = then.iter().filter(not_ignored);
        assert!(expected.eq(state(&copy).iter()), "a copy differs");

        let undone = world.restore(restored.before);
        assert_eq!(undone.before, snapshot.id);
        assert_eq!(without_git(world.state()), later);
    });
}

/// Found by seed 3 of 2,500 trees.
#[test]
fn a_copy_has_the_folders_that_nobody_may_write_to() {
    let world = World::in_memory();
    Step::Write("a/c.txt".into(), b"1".to_vec(), 0o644).run(&world.root());
    Step::Folder("a".into(), 0o555).run(&world.root());
    let copy = world.folder().join("copy");
    world.snapshots.copy_to(&copy, world.take().id, Some(&world.root())).unwrap();
    assert_eq!(state(&copy), world.state());
}

#[test]
fn a_file_that_changes_while_it_is_read_is_as_it_was_once_or_named() {
    let number = trees().div_ceil(6);
    println!("seed {}: {number} trees with a file that changes", seed());
    hold(number, steps, |steps| {
        let world = World::in_memory();
        steps.iter().for_each(|step| step.run(&world.root()));
        let (then, busy) = (world.state(), world.root().join("busy"));
        let stop = AtomicBool::new(false);
        // The snapshot may be complete before the thread has begun.
        fs::write(&busy, [0; 1000]).unwrap();
        let snapshot = thread::scope(|scope| {
            scope.spawn(|| {
                // Each version has one byte and a length of its own.
                for version in (0..200_u8).cycle().take_while(|_| !stop.load(Relaxed)) {
                    fs::write(&busy, vec![version; 1000 + usize::from(version)]).unwrap();
                }
            });
            let snapshot = world.take();
            stop.store(true, Relaxed);
            snapshot
        });
        fs::remove_file(&busy).unwrap();
        world.restore(snapshot.id);
        let mut restored = world.state();
        let contents = restored.remove(b"busy".as_slice()).map(|(_, contents)| contents);
        assert_eq!(restored, then);
        let is_one = |contents: Vec<u8>| match contents.strip_prefix(b"file ").unwrap() {
            [] => true,
            all @ [first, ..] => *all == vec![*first; 1000 + usize::from(*first)],
        };
        let is_named = snapshot.left_out.iter().any(|left| left.path == "busy");
        assert!(is_named || contents.is_none_or(is_one), "busy is of several moments");
    });
}

/// The states with which the trees begin. A copy is faster than to make each with git.
struct Beginnings {
    folder: TempDir,
}

impl Beginnings {
    /// Nothing; a repository; one with a nested repository and a submodule; a sparse clone of it.
    const NUMBER: usize = 4;

    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["0", "1", "2", "module"] {
            fs::create_dir(path(name)).unwrap();
        }
        for name in ["1", "2", "module"] {
            let root = path(name);
            git(&root, &["init", "--quiet", "--initial-branch=main"]);
            fs::write(root.join(".gitignore"), "ignored/\n").unwrap();
            for folder in ["a", "b", "ignored"] {
                fs::create_dir(root.join(folder)).unwrap();
                fs::write(root.join(folder).join("c.txt"), folder).unwrap();
            }
            git(&root, &["add", "."]);
            git(&root, &["commit", "--quiet", "--message=first"]);
        }
        let (two, origin) = (path("2"), path("module"));
        let origin = origin.to_str().unwrap();
        let allow = "protocol.file.allow=always";
        git(&two, &["-c", allow, "submodule", "--quiet", "add", origin, "module"]);
        git(&two, &["init", "--quiet", "b/nested"]);
        fs::write(two.join("b/nested/own"), "1").unwrap();
        git(&two, &["commit", "--quiet", "--message=second"]);
        git(folder.path(), &["clone", "--quiet", "1", "3"]);
        git(&path("3"), &["sparse-checkout", "set", "a"]);
        Self { folder }
    }

    fn world(&self, number: usize) -> World {
        let world = World::in_memory();
        let from = self.folder.path().join(number.to_string()).join(".");
        let copied = Command::new("cp").arg("-a").arg(from).arg(world.root()).status();
        assert!(copied.unwrap().success());
        world
    }
}

/// Leaves out what repositories have of their own: no snapshot has it.
fn without_git(mut state: State) -> State {
    state.retain(|path, _| !path.split(|&byte| byte == b'/').any(|name| name == b".git"));
    state
}

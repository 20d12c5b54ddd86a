//! What holds for every tree: a restored snapshot is the state that was taken, and the restore of
//! the state before is the identity.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::world::World;

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
const NAMES: [&[u8]; 16] = [
    b"a",
    b"A",
    b"b",
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
                if is_inside(root, &path) && fs::create_dir_all(&path).is_ok() {
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

fn cases() -> u32 {
    let times: u32 = std::env::var("FORKLORE_SOAK").map_or(1, |times| times.parse().unwrap());
    60 * times
}

#[test]
fn a_restored_snapshot_is_the_state_of_then_and_its_undo_that_of_before() {
    let steps = || prop::collection::vec(step(), 0..30);
    let strategy = (steps(), steps());
    let mut runner =
        TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(cases()) });
    let run = |(first, second): (Vec<Step>, Vec<Step>)| {
        let world = World::in_memory();
        first.iter().for_each(|step| step.run(&world.root()));
        let (then, snapshot) = (world.state(), world.take());
        assert_eq!(world.take().id, snapshot.id);
        second.iter().for_each(|step| step.run(&world.root()));
        let later = world.state();

        let restored = world.restore(snapshot.id);
        assert_eq!(restored.skipped, []);
        assert_eq!(world.state(), then);
        assert_eq!(world.take().id, snapshot.id);

        let undone = world.restore(restored.before);
        assert_eq!(undone.before, snapshot.id);
        assert_eq!(world.state(), later);
        Ok(())
    };
    runner.run(&strategy, run).unwrap();
}

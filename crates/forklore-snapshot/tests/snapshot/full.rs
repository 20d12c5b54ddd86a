//! A disk that takes no more: the error says so, and nothing of the attempt remains.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use forklore_snapshot::{Error, Snapshots, Taking};

use crate::world::World;

const FOLDER: &str = "FORKLORE_FULL_IN";

/// Fails to take a snapshot, as a process of its own, and prints the kind of the error.
#[test]
fn worker() {
    let Ok(folder) = env::var(FOLDER) else { return };
    let folder = Path::new(&folder);
    let snapshots = Snapshots::open(&folder.join("snapshots")).unwrap();
    match snapshots.take(&folder.join("project"), &Taking::default()).unwrap_err() {
        Error::File { what: "write", source, .. } => println!("kind {:?}.", source.kind()),
        other => println!("other {other:?}"),
    }
}

/// Takes a snapshot after a command of the shell, and returns whether the error has a kind.
fn fails_with(world: &World, prepare: &str, kind: ErrorKind) -> bool {
    let mut shell = Command::new("sh");
    let worker = r#"exec "$0" --exact full::worker --nocapture"#;
    shell.args(["-c", &format!("{prepare}; {worker}")]).arg(env::current_exe().unwrap());
    let done = shell.env(FOLDER, world.folder()).output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    text.contains(&format!("kind {kind:?}."))
}

/// Returns the files of the repository that git leaves when it fails.
fn rests(world: &World) -> Vec<String> {
    let folders = ["snapshots", "snapshots/objects/pack"].map(|name| world.folder().join(name));
    let names = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let begins = |name: &String| name.starts_with("tmp_") || name.starts_with("fast_import_");
    names.filter(begins).collect()
}

/// Bytes that do not become smaller.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33).to_le_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn a_file_that_git_may_not_make_that_large_leaves_nothing() {
    let world = World::new();
    world.write("large", noise(6 << 20));
    let limit = "trap '' XFSZ; ulimit -f 2048";
    assert!(fails_with(&world, limit, ErrorKind::FileTooLarge));
    assert_eq!(rests(&world), [""; 0]);
    world.take();
}

#[test]
fn a_full_disk_is_an_error_that_says_so_and_leaves_nothing() {
    let world = World::new();
    world.write("file", "1");
    let tools = world.folder().join("tools");
    fs::create_dir(&tools).unwrap();
    let git = r#"#!/bin/sh
case " $* " in *" fast-import "*)
    touch objects/pack/tmp_pack_1 fast_import_crash_1
    echo 'fatal: write error: No space left on device' >&2
    exit 128 ;;
esac
PATH=${PATH#*:} exec git "$@"
"#;
    fs::write(tools.join("git"), git).unwrap();
    fs::set_permissions(tools.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let full = format!("PATH='{}':$PATH", tools.display());
    assert!(fails_with(&world, &full, ErrorKind::StorageFull));
    assert_eq!(rests(&world), [""; 0]);
}

#[test]
fn what_a_killed_writer_left_goes_with_the_next_snapshot_or_collection() {
    let world = World::new();
    let leave = || {
        for name in ["fast_import_crash_1", "objects/pack/tmp_pack_1", "objects/pack/tmp_idx_1"] {
            fs::write(world.folder().join("snapshots").join(name), "1").unwrap();
        }
    };
    leave();
    world.write("file", "1");
    let id = world.take().id;
    assert_eq!(rests(&world), [""; 0]);
    leave();
    world.snapshots.collect::<Error>(false, || Ok([id].into())).unwrap();
    assert_eq!(rests(&world), [""; 0]);
}

#[test]
fn what_another_writer_is_about_to_finish_stays() {
    let world = World::new();
    let unfinished = world.folder().join("snapshots/objects/pack/tmp_pack_1");
    fs::create_dir_all(unfinished.parent().unwrap()).unwrap();
    fs::write(&unfinished, "1").unwrap();
    let other = fs::File::create(world.folder().join("snapshots/writing")).unwrap();
    other.lock_shared().unwrap();
    world.write("file", "1");
    world.take();
    assert_eq!(rests(&world), ["tmp_pack_1"]);
    drop(other);
    world.write("file", "2");
    world.take();
    assert_eq!(rests(&world), [""; 0]);
}

//! The rules of docs/semantics.md, Snapshots. Each is an accident that other programs had.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::process::Command;

use bstr::BString;
use forklore_snapshot::{
    Change, ChangeKind, Error, LeftOut, Reason, SkipReason, Skipped, SnapshotId, Snapshots, Taking,
};

use crate::world::{World, state};

fn skipped(path: &str, reason: SkipReason) -> Skipped {
    Skipped { path: path.into(), reason }
}

fn left_out(path: &str, reason: Reason) -> LeftOut {
    LeftOut { path: path.into(), reason }
}

#[test]
fn a_snapshot_of_a_folder_that_is_gone_is_an_error() {
    let world = World::new();
    fs::remove_dir(world.root()).unwrap();
    let error = world.snapshots.take(&world.root(), &Taking::default()).unwrap_err();
    assert!(matches!(error, Error::File { what: "open", .. }), "{error}");
}

#[test]
fn a_snapshot_that_cannot_be_written_is_an_error_and_changes_nothing() {
    let world = World::new();
    world.write("file", "1");
    let snapshot = world.take();
    world.write("file", "2");
    let objects = world.folder().join("snapshots/objects");
    fs::remove_dir_all(&objects).unwrap();
    fs::write(&objects, "no folder").unwrap();
    let error = world.snapshots.restore(&world.root(), snapshot.id, &[], &Taking::default());
    assert!(error.is_err());
    assert_eq!(world.read("file"), "2");
}

#[test]
fn a_snapshot_that_does_not_exist_is_not_found_and_changes_nothing() {
    let world = World::new();
    world.write("file", "1");
    let id: SnapshotId = "00000000000000000000000000000000000000ff".parse().unwrap();
    let error = world.snapshots.restore(&world.root(), id, &[], &Taking::default()).unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
    assert_eq!(world.read("file"), "1");
}

#[test]
fn nothing_is_written_through_a_link() {
    let world = World::new();
    world.write("folder/file", "inside");
    let snapshot = world.take();
    let outside = world.folder().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "outside").unwrap();
    fs::remove_dir_all(world.root().join("folder")).unwrap();
    symlink(&outside, world.root().join("folder")).unwrap();

    let restored = world.restore(snapshot.id);
    assert_eq!(world.read("folder/file"), "inside");
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "outside");
    world.restore(restored.before);
    assert_eq!(world.read("folder/file"), "outside");
    assert!(world.root().join("folder").is_symlink());
}

#[test]
fn a_file_with_several_names_is_not_changed_and_is_named() {
    let world = World::new();
    world.write("file", "1");
    let snapshot = world.take();
    world.write("file", "2");
    let other = world.folder().join("other name");
    fs::hard_link(world.root().join("file"), &other).unwrap();
    let restored = world.restore(snapshot.id);
    assert_eq!(restored.skipped, [skipped("file", SkipReason::HardLink)]);
    assert_eq!(fs::read_to_string(other).unwrap(), "2");
}

#[test]
fn special_and_large_files_are_named_and_not_touched() {
    let world = World::new();
    world.write("large", [0; 100]);
    let _socket = UnixListener::bind(world.root().join("socket")).unwrap();
    let pipe = world.root().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let taking = Taking { largest_file: 99, ..Taking::default() };
    let snapshot = world.snapshots.take(&world.root(), &taking).unwrap();
    let named = [
        left_out("large", Reason::Large),
        left_out("pipe", Reason::Channel),
        left_out("socket", Reason::Channel),
    ];
    assert_eq!((snapshot.files, snapshot.left_out.as_slice()), (0, named.as_slice()));

    // The file that the snapshot left out is not removed, though it is small enough now.
    world.write("large", "small");
    world.snapshots.restore(&world.root(), snapshot.id, &[], &taking).unwrap();
    assert_eq!(world.read("large"), "small");
}

#[test]
fn a_large_file_that_no_snapshot_has_is_not_replaced() {
    let world = World::new();
    world.write("data", "then");
    let snapshot = world.take();
    world.write("data", [b'x'; 100]);
    let taking = Taking { largest_file: 99, ..Taking::default() };
    let restored = world.snapshots.restore(&world.root(), snapshot.id, &[], &taking).unwrap();
    assert_eq!(restored.skipped, [skipped("data", SkipReason::NotInSnapshot)]);
    assert_eq!(world.read("data").len(), 100);
}

#[test]
fn a_folder_with_ignored_files_is_not_replaced_by_a_file() {
    let world = World::with_git();
    world.write("thing", "a file");
    let snapshot = world.take();
    fs::remove_file(world.root().join("thing")).unwrap();
    world.write("thing/run.log", "ignored");
    let restored = world.restore(snapshot.id);
    assert_eq!(restored.skipped, [skipped("thing", SkipReason::FolderInUse)]);
    assert_eq!(world.read("thing/run.log"), "ignored");
}

#[test]
fn only_the_named_paths_are_restored() {
    let world = World::new();
    for path in ["a/one", "a/two", "ab", "b"] {
        world.write(path, "then");
    }
    let snapshot = world.take();
    for path in ["a/one", "a/three", "ab", "b"] {
        world.write(path, "now");
    }
    let paths = [BString::from("a")];
    let now = world.take().id;
    let preview = world.snapshots.preview(now, snapshot.id, &paths);
    let change = |path: &str, kind| Change { path: path.into(), kind };
    let wanted = [change("a/one", ChangeKind::Modified), change("a/three", ChangeKind::Removed)];
    assert_eq!(preview.unwrap(), wanted);
    world.snapshots.restore(&world.root(), snapshot.id, &paths, &Taking::default()).unwrap();
    assert_eq!((world.read("a/one"), world.read("ab"), world.read("b")), then_now_now());
    assert!(!world.has("a/three"));
}

fn then_now_now() -> (String, String, String) {
    ("then".into(), "now".into(), "now".into())
}

#[test]
fn a_snapshot_is_copied_into_an_empty_folder_only() {
    let world = World::with_git();
    world.write("deep/er/file", "1");
    fs::create_dir(world.root().join("empty")).unwrap();
    let private = fs::Permissions::from_mode(0o600);
    world.write("secret", "2");
    fs::set_permissions(world.root().join("secret"), private).unwrap();
    let snapshot = world.take();
    let copy = world.folder().join("copy");
    assert_eq!(world.snapshots.copy_to(&copy, snapshot.id, None).unwrap(), 4);
    let mut wanted = world.state();
    wanted.retain(|path, _| !path.starts_with(b".git/") && path != b".git");
    assert_eq!(crate::world::state(&copy), wanted);

    let error = world.snapshots.copy_to(&copy, snapshot.id, None).unwrap_err();
    assert!(matches!(error, Error::NotEmpty { .. }), "{error}");
}

#[test]
fn the_parts_of_many_threads_are_one_state() {
    let world = World::new();
    for number in 0..300 {
        world.write(&format!("part-{}/of/file-{number}", number / 7), number.to_string());
    }
    let (then, snapshot) = (world.state(), world.take());
    let copy = world.folder().join("copy");
    assert_eq!(world.snapshots.copy_to(&copy, snapshot.id, None).unwrap(), 300);
    assert_eq!(state(&copy), then);
    // Where the file system shares contents, the files of the workspace are used, if they are as then.
    world.write("part-0/of/file-1", "x");
    fs::remove_file(world.root().join("part-0/of/file-2")).unwrap();
    let shared = world.folder().join("shared");
    let workspace = world.root();
    assert_eq!(world.snapshots.copy_to(&shared, snapshot.id, Some(&workspace)).unwrap(), 300);
    assert_eq!(state(&shared), then);
    for number in 0..43 {
        fs::remove_dir_all(world.root().join(format!("part-{number}"))).unwrap();
    }
    assert_eq!(world.restore(snapshot.id).written, 300);
    assert_eq!(world.state(), then);
}

#[test]
fn what_others_did_since_stays_when_a_restore_is_reverted() {
    let world = World::new();
    for path in ["a", "b", "mode"] {
        world.write(path, "then");
    }
    let snapshot = world.take();
    for path in ["a", "b"] {
        world.write(path, "now");
    }
    let restored = world.restore(snapshot.id);
    world.write("b", "another's");
    world.write("new", "another's");
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(world.root().join("mode"), mode).unwrap();

    let (taking, root) = (Taking::default(), world.root());
    let reverted =
        world.snapshots.revert(&root, snapshot.id, restored.before, &[], &taking).unwrap();
    assert_eq!(reverted.skipped, [skipped("b", SkipReason::Changed)]);
    let texts = ["a", "b", "new"].map(|path| world.read(path));
    assert_eq!(texts, ["now", "another's", "another's"]);
    let mode = fs::metadata(root.join("mode")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_change_that_shows_only_in_the_contents_is_found() {
    let world = World::new();
    world.write("file", "1");
    let first = world.take();
    let path = world.root().join("file");
    let times = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "2").unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(times).unwrap();
    assert_ne!(world.take().id, first.id);
}

#[test]
fn a_damaged_index_costs_time_only() {
    let world = World::new();
    world.write("file", "1");
    let snapshot = world.take();
    for entry in fs::read_dir(world.folder().join("snapshots/workspaces")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|kind| kind == "index") {
            fs::write(path, "damaged").unwrap();
        }
    }
    assert_eq!(world.take(), snapshot);
}

#[test]
fn what_is_excluded_is_no_part_of_it() {
    let world = World::new();
    world.write("store/data", "1");
    world.write("file", "1");
    let taking = Taking { without: vec![world.root().join("store")], ..Taking::default() };
    let snapshot = world.snapshots.take(&world.root(), &taking).unwrap();
    assert_eq!(snapshot.files, 1);
    world.write("store/data", "2");
    let again = world.snapshots.take(&world.root(), &taking).unwrap();
    assert_eq!(again.id, snapshot.id);
}

#[test]
fn an_unreadable_folder_is_named_and_its_files_are_not_removed() {
    let world = World::new();
    world.write("closed/file", "1");
    world.write("open", "1");
    let closed = world.root().join("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let is_root = fs::read_dir(&closed).is_ok();
    let snapshot = world.take();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    // The permissions of a file do not stop the superuser.
    if !is_root {
        assert_eq!(snapshot.left_out, [left_out("closed", Reason::Unreadable)]);
        world.restore(snapshot.id);
    }
    assert_eq!(world.read("closed/file"), "1");
}

#[test]
fn equal_changes_in_several_folders_are_recorded_at_once() {
    let world = World::new();
    let folders: Vec<_> =
        (0..6).map(|number| world.folder().join(format!("copy-{number}"))).collect();
    folders.iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
    // Equal packs have equal names. Most of these rounds would write some at the same time.
    for round in 0..8 {
        let ids: Vec<_> = std::thread::scope(|scope| {
            let takes: Vec<_> = folders
                .iter()
                .map(|folder| {
                    std::fs::write(folder.join("file"), format!("{round}")).unwrap();
                    scope.spawn(|| world.snapshots.take(folder, &Taking::default()).unwrap().id)
                })
                .collect();
            takes.into_iter().map(|take| take.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    }
}

#[test]
fn several_processes_take_and_restore_at_once() {
    let world = World::new();
    let states: Vec<_> = (0..4)
        .map(|number| {
            world.write("file", format!("state {number}"));
            world.take().id
        })
        .collect();
    std::thread::scope(|scope| {
        for id in &states {
            scope.spawn(|| {
                let own = Snapshots::open(&world.folder().join("snapshots")).unwrap();
                for _ in 0..5 {
                    own.restore(&world.root(), *id, &[], &Taking::default()).unwrap();
                    own.take(&world.root(), &Taking::default()).unwrap();
                }
            });
        }
    });
    assert!(states.contains(&world.take().id));
}

#[test]
fn a_snapshot_that_would_exceed_the_size_cap_is_refused_and_names_the_largest_files() {
    let world = World::new();
    world.write("small", "1");
    let before = world.take();
    let taking = Taking { max_size: Some(100_000), ..Taking::default() };
    for number in 0..7 {
        world.write(&format!("large-{number}"), vec![b'x'; 20_000 + number]);
    }
    let state = world.state();
    let refused = world.snapshots.take(&world.root(), &taking).unwrap_err();
    let Error::Full { max: 100_000, bytes, new: 140_021, largest } = &refused else {
        panic!("{refused}")
    };
    assert!(*bytes < 10_000, "{bytes}");
    let named = (2..7).rev().map(|number| (format!("large-{number}").into(), 20_000 + number));
    assert_eq!(*largest, named.collect::<Vec<(BString, u64)>>());

    // A restore needs a snapshot first, so it changes nothing either.
    let refused = world.snapshots.restore(&world.root(), before.id, &[], &taking).unwrap_err();
    assert!(matches!(refused, Error::Full { .. }), "{refused}");
    assert_eq!(world.state(), state);

    // What is stored needs nothing, wherever it is.
    world.take();
    let tight = Taking { max_size: Some(0), ..Taking::default() };
    fs::rename(world.root().join("large-0"), world.root().join("moved")).unwrap();
    fs::remove_file(world.root().join("large-1")).unwrap();
    let moved = world.snapshots.take(&world.root(), &tight).unwrap();
    assert_eq!((moved.files, moved.id), (7, world.take().id));
    world.write("small", "2");
    let refused = world.snapshots.take(&world.root(), &tight).unwrap_err();
    let Error::Full { new: 1, largest, .. } = &refused else { panic!("{refused}") };
    assert_eq!(*largest, [("small".into(), 1)]);
}

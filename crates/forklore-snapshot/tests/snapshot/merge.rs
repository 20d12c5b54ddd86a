//! Merges of two states that began with a common one.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use forklore_snapshot::{Error, SnapshotId, Taking};

use crate::world::World;

/// The states before, here and there.
struct States {
    world: World,
    base: SnapshotId,
    theirs: SnapshotId,
    ours: SnapshotId,
}

impl States {
    /// Makes the three states, one after the other from `before`.
    fn of(before: impl Fn(&World), theirs: impl Fn(&World), ours: impl Fn(&World)) -> Self {
        let world = World::new();
        before(&world);
        let base = world.take().id;
        theirs(&world);
        let their = world.take().id;
        world.restore(base);
        ours(&world);
        let our = world.take().id;
        Self { world, base, theirs: their, ours: our }
    }

    /// Merges, restores what comes out, and returns the paths in conflict.
    fn merge(&self) -> Vec<String> {
        let Self { world, base, theirs, ours } = self;
        let merged = world.snapshots.merge(*base, *ours, *theirs).unwrap();
        let taking = Taking::default();
        let done = world.snapshots.revert(&world.root(), *ours, merged.id, &[], &taking).unwrap();
        assert_eq!(done.skipped, []);
        assert_eq!(world.take().id, merged.id);
        merged.conflicts.iter().map(ToString::to_string).collect()
    }
}

const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

#[test]
fn changes_of_both_are_in_the_merged_state() {
    let states = States::of(
        |world| {
            world.write("text", LINES);
            world.write("gone", "1");
            world.write("mine", "1");
        },
        |world| {
            world.write("text", LINES.replace("one", "first"));
            world.write("new/result", "42");
            fs::remove_file(world.root().join("gone")).unwrap();
            symlink("result", world.root().join("new/link")).unwrap();
        },
        |world| {
            world.write("text", LINES.replace("seven", "last"));
            world.write("mine", "2");
        },
    );
    assert_eq!(states.merge(), [""; 0]);
    let world = &states.world;
    assert_eq!(world.read("text"), LINES.replace("one", "first").replace("seven", "last"));
    assert_eq!((world.read("mine"), world.read("new/link")), ("2".into(), "42".into()));
    assert!(!world.root().join("gone").exists());
}

#[test]
fn lines_that_both_changed_are_a_conflict_with_markers_and_nothing_is_lost() {
    let states = States::of(
        |world| world.write("text", LINES),
        |world| world.write("text", LINES.replace("two", "theirs")),
        |world| world.write("text", LINES.replace("two", "ours")),
    );
    assert_eq!(states.merge(), ["text"]);
    let (start, middle, end) = ("<<<<<<< yours\n", "=======\n", ">>>>>>> brought\n");
    let both = format!("{start}ours\n{middle}theirs\n{end}");
    assert_eq!(states.world.read("text"), LINES.replace("two\n", &both));
    states.world.restore(states.ours);
    assert_eq!(states.world.read("text"), LINES.replace("two", "ours"));
}

#[test]
fn a_file_changed_here_and_removed_there_stays_and_is_a_conflict() {
    let states = States::of(
        |world| world.write("file", "1\n"),
        |world| fs::remove_file(world.root().join("file")).unwrap(),
        |world| world.write("file", "2\n"),
    );
    assert_eq!(states.merge(), ["file"]);
    assert_eq!(states.world.read("file"), "2\n");
}

#[test]
fn a_binary_file_that_both_changed_stays_ours() {
    let states = States::of(
        |world| world.write("data", "\0one"),
        |world| world.write("data", "\0theirs"),
        |world| world.write("data", "\0ours"),
    );
    assert_eq!(states.merge(), ["data"]);
    assert_eq!(states.world.read("data"), "\0ours");
}

#[test]
fn permissions_and_empty_folders_merge_too() {
    let set = |world: &World, path: &str, mode| {
        fs::set_permissions(world.root().join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    let states = States::of(
        |world| {
            world.write("secret", "1");
            world.write("tool", "1");
            world.write("other", "1");
            fs::create_dir(world.root().join("leaves")).unwrap();
        },
        |world| {
            set(world, "secret", 0o600);
            set(world, "tool", 0o755);
            fs::create_dir(world.root().join("comes")).unwrap();
        },
        |world| {
            set(world, "other", 0o640);
            fs::remove_dir(world.root().join("leaves")).unwrap();
        },
    );
    assert_eq!(states.merge(), [""; 0]);
    let mode = |path| fs::metadata(states.world.root().join(path)).unwrap().mode() & 0o7777;
    assert_eq!(["secret", "tool", "other"].map(mode), [0o600, 0o755, 0o640]);
    let exists = |path| states.world.root().join(path).exists();
    assert_eq!((exists("comes"), exists("leaves")), (true, false));
}

#[test]
fn everything_removed_on_both_sides_is_an_empty_state() {
    let empty = |world: &World| fs::remove_file(world.root().join("file")).unwrap();
    let states = States::of(|world| world.write("file", "1"), empty, empty);
    assert_eq!(states.merge(), [""; 0]);
    assert_eq!(fs::read_dir(states.world.root()).unwrap().count(), 0);
}

#[test]
fn a_merge_with_a_snapshot_that_does_not_exist_is_not_found() {
    let states = States::of(|_| {}, |world| world.write("a", "1"), |_| {});
    let unknown: SnapshotId = "00000000000000000000000000000000000000ff".parse().unwrap();
    let error = states.world.snapshots.merge(unknown, states.ours, states.theirs).unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
}

/// Merges leave nothing but objects behind, and attributes in the files decide nothing.
#[test]
fn attributes_decide_nothing_and_nothing_remains_of_a_merge() {
    let states = States::of(
        |world| {
            world.write(".gitattributes", "text merge=union\n");
            world.write("text", LINES);
        },
        |world| world.write("text", LINES.replace("two", "theirs")),
        |world| world.write("text", LINES.replace("two", "ours")),
    );
    assert_eq!(states.merge(), ["text"]);
    let folder = fs::read_dir(states.world.folder().join("snapshots")).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!names.into_iter().any(|name| name.starts_with("merge-")));
}

#[test]
fn what_a_killed_merge_left_goes_and_a_merge_that_goes_on_stays() {
    let states = States::of(
        |world| world.write("a", "1"),
        |world| world.write("b", "1"),
        |world| world.write("c", "1"),
    );
    let scratch = || {
        let entries = fs::read_dir(states.world.folder().join("snapshots")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut found: Vec<_> = names.filter(|name| name.starts_with("merge-")).collect();
        found.sort();
        found
    };
    let make = |name: &str| {
        let folder = states.world.folder().join("snapshots").join(name);
        fs::create_dir_all(folder.join("refs")).unwrap();
        fs::File::open(folder).unwrap()
    };
    make("merge-left");
    let going_on = make("merge-other");
    going_on.lock().unwrap();
    assert_eq!((states.merge(), scratch()), (vec![], vec!["merge-other".to_owned()]));
    drop(going_on);
    states.world.snapshots.collect::<Error>(false, || Ok(std::iter::empty().collect())).unwrap();
    assert_eq!(scratch(), Vec::<String>::new());
}

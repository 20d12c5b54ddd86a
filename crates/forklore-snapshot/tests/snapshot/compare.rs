//! Two snapshots are compared by lines, whatever the files are called and contain.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};

use bstr::{BStr, ByteSlice};
use forklore_snapshot::{ChangeKind, Lines};

use crate::world::World;

#[test]
fn the_lines_of_each_kind_of_change() {
    let world = World::new();
    for (path, contents) in
        [("edited", "1\n2\n3\n"), ("gone", "old\n"), ("link", "a file\n"), ("mode", "x\n")]
    {
        world.write(path, contents);
    }
    world.write("binary", b"\0\x01");
    world.write("large", "line\n".repeat(500_000));
    world.write("quoted \"\n\t", "hostile\n");
    let before = world.take().id;
    world.write("edited", "1\n2 \x1b[2J\n3\ndiff --git a/x b/x\n");
    std::fs::remove_file(world.root().join("gone")).unwrap();
    std::fs::remove_file(world.root().join("link")).unwrap();
    symlink("edited", world.root().join("link")).unwrap();
    std::fs::set_permissions(world.root().join("mode"), Permissions::from_mode(0o600)).unwrap();
    world.write("binary", b"\0\x02");
    world.write("large", "line\n".repeat(500_001));
    world.write("quoted \"\n\t", "hostile 2\n");
    world.write("new", "n\r\n");
    let after = world.take().id;

    let found = world.snapshots.compare_lines(before, after, true).unwrap();
    let lines = |added, removed| Lines::Differ { added, removed };
    let shown: Vec<_> = found
        .iter()
        .map(|it| (it.change.path.to_str().unwrap(), it.change.kind, it.lines))
        .collect();
    let expected = [
        ("binary", ChangeKind::Modified, Lines::Binary),
        ("edited", ChangeKind::Modified, lines(2, 1)),
        ("gone", ChangeKind::Removed, lines(0, 1)),
        ("large", ChangeKind::Modified, Lines::Large),
        ("link", ChangeKind::Modified, lines(1, 1)),
        ("mode", ChangeKind::Mode, lines(0, 0)),
        ("new", ChangeKind::Added, lines(1, 0)),
        ("quoted \"\n\t", ChangeKind::Modified, lines(1, 1)),
    ];
    assert_eq!(shown, expected);
    let patch = |path: &str| {
        let found = found.iter().find(|it| it.change.path == path).unwrap();
        found.patch.as_ref().map(|patch| patch.to_str_lossy().into_owned())
    };
    assert!(
        patch("edited")
            .unwrap()
            .ends_with("@@ -1,3 +1,4 @@\n 1\n-2\n+2 \x1b[2J\n 3\n+diff --git a/x b/x\n")
    );
    assert!(patch("new").unwrap().ends_with("@@ -0,0 +1 @@\n+n\r\n"));
    assert!(patch("quoted \"\n\t").unwrap().ends_with("-hostile\n+hostile 2\n"));
    let link = patch("link").unwrap();
    assert!(link.contains("deleted file mode 100644") && link.contains("new file mode 120000"));
    assert_eq!((patch("binary"), patch("large"), patch("mode")), (None, None, None));
    // Without a wish for them, there are no patches.
    let found = world.snapshots.compare_lines(before, after, false).unwrap();
    assert!(found.iter().all(|it| it.patch.is_none()));
}

#[test]
fn a_path_is_a_file_a_folder_or_an_empty_folder() {
    let world = World::new();
    world.write("src/a:b*", "1");
    std::fs::create_dir_all(world.root().join("empty/inside")).unwrap();
    let id = world.take().id;
    let has = |path: &str| world.snapshots.has_path(id, BStr::new(path)).unwrap();
    let found =
        ["src", "src/a:b*", "empty", "empty/inside", "src/a", "other", "src/a:b*/x"].map(has);
    assert_eq!(found, [true, true, true, true, false, false, false]);
}

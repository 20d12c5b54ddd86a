//! Workspaces that are repositories of git.

use std::fs;
use std::os::unix::fs::symlink;

use forklore_snapshot::{Error, Reason, Taking};

use crate::world::{World, git, state};

#[test]
fn the_users_repository_stays_as_it_is_byte_for_byte() {
    let world = World::with_git();
    world.write("staged", "1");
    world.git(&["add", "staged"]);
    world.write("untracked", "2");
    let before = state(&world.root().join(".git"));

    let snapshot = world.take();
    world.write("README", "changed");
    fs::remove_file(world.root().join("untracked")).unwrap();
    let restored = world.restore(snapshot.id);
    world.restore(restored.before);

    assert_eq!(state(&world.root().join(".git")), before);
    assert_eq!(snapshot.branch.as_deref(), Some("main"));
    assert_eq!(snapshot.commit.unwrap(), world.git(&["rev-parse", "HEAD"]).trim());
}

#[test]
fn untracked_results_come_back_and_ignored_ones_are_not_touched() {
    let world = World::with_git();
    world.write("results/big.csv", "a,b");
    world.write("ignored/cache", "warm");
    world.write("debug.log", "line");
    let snapshot = world.take();

    fs::remove_dir_all(world.root().join("results")).unwrap();
    world.write("ignored/cache", "warmer");
    world.write("new/file", "new");
    let restored = world.restore(snapshot.id);

    assert_eq!(world.read("results/big.csv"), "a,b");
    assert_eq!(world.read("ignored/cache"), "warmer");
    assert_eq!(world.read("debug.log"), "line");
    assert!(!world.has("new"));
    assert_eq!((restored.written, restored.removed), (1, 1));
}

#[test]
fn a_tracked_file_that_the_rules_ignore_belongs_to_it() {
    let world = World::with_git();
    world.write("kept.log", "1");
    world.git(&["add", "--force", "kept.log"]);
    let snapshot = world.take();
    world.write("kept.log", "2");
    world.restore(snapshot.id);
    assert_eq!(world.read("kept.log"), "1");
}

#[test]
fn the_same_in_a_workspace_that_is_a_part_of_a_repository() {
    let world = World::with_git();
    world.write("part/kept.log", "1");
    world.git(&["add", "--force", "part/kept.log"]);
    let (part, taking) = (world.root().join("part"), Taking::default());
    let snapshot = world.snapshots.take(&part, &taking).unwrap();
    world.write("part/kept.log", "2");
    world.snapshots.restore(&part, snapshot.id, &[], &taking).unwrap();
    assert_eq!(world.read("part/kept.log"), "1");
}

#[test]
fn a_file_that_was_ignored_then_is_not_removed() {
    let world = World::with_git();
    world.write("ignored/results", "dear");
    let snapshot = world.take();
    world.write(".gitignore", "");
    let restored = world.restore(snapshot.id);
    assert_eq!(world.read("ignored/results"), "dear");
    assert_eq!(world.read(".gitignore"), "ignored/\n*.log\n");
    world.restore(restored.before);
    assert_eq!(world.read("ignored/results"), "dear");
}

#[test]
fn a_file_that_is_ignored_now_is_in_the_snapshot_before_it_is_replaced() {
    let world = World::with_git();
    world.write("data", "then");
    let snapshot = world.take();
    world.write("data", "now");
    world.write(".gitignore", "data\n");
    let restored = world.restore(snapshot.id);
    assert_eq!(world.read("data"), "then");
    world.restore(restored.before);
    assert_eq!(world.read("data"), "now");
}

#[test]
fn contents_of_nested_repositories_belong_to_it_and_their_git_does_not() {
    let world = World::with_git();
    world.write("nested/file", "1");
    let nested = world.root().join("nested");
    git(&nested, &["init", "--quiet"]);
    world.write("nested/.gitignore", "out\n");
    world.write("nested/out/x", "ignored");
    let (inside, snapshot) = (state(&nested.join(".git")), world.take());

    world.write("nested/file", "2");
    world.write("nested/more", "3");
    world.restore(snapshot.id);
    assert_eq!(world.read("nested/file"), "1");
    assert_eq!(world.read("nested/out/x"), "ignored");
    assert!(!world.has("nested/more"));
    assert_eq!(state(&nested.join(".git")), inside);
}

#[test]
fn a_submodule_and_a_sparse_checkout_are_as_they_are_on_the_disk() {
    let world = World::with_git();
    let other = World::with_git();
    let url = other.root().to_str().unwrap().to_owned();
    world.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "sub"]);
    world.write("far/file", "far");
    world.git(&["add", "."]);
    world.git(&["commit", "--quiet", "--message=more"]);
    world.git(&["sparse-checkout", "set", "--no-cone", "/*", "!/far"]);
    assert!(!world.has("far"));
    world.write("sub/README", "changed in the submodule");
    let (then, snapshot) = (world.state(), world.take());

    world.write("sub/README", "lost");
    world.write("far/file", "appeared");
    world.restore(snapshot.id);
    assert_eq!(world.state(), then);
}

#[test]
fn settings_attributes_hooks_and_links_of_the_repository_decide_nothing() {
    let world = World::with_git();
    let marker = world.folder().join("ran");
    let hook = format!("#!/bin/sh\ntouch {}\n", marker.display());
    for name in ["pre-commit", "post-index-change", "reference-transaction", "fsmonitor"] {
        let path = world.root().join(".git/hooks").join(name);
        fs::write(&path, &hook).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&path, mode).unwrap();
    }
    let monitor = world.root().join(".git/hooks/fsmonitor");
    world.git(&["config", "core.fsmonitor", monitor.to_str().unwrap()]);
    world.git(&["config", "filter.evil.clean", &format!("touch {}", marker.display())]);
    world.git(&["config", "core.autocrlf", "true"]);
    world.write(".gitattributes", "* filter=evil text=auto eol=crlf\n");
    world.write("crlf", "1\r\n2\n");
    symlink("/etc", world.root().join("outside")).unwrap();
    let (then, snapshot) = (world.state(), world.take());
    fs::remove_file(world.root().join("crlf")).unwrap();
    world.restore(snapshot.id);
    assert_eq!(world.state(), then);
    assert!(!marker.exists());
}

#[test]
fn a_repository_without_a_commit_and_a_detached_one_have_what_they_have() {
    let world = World::new();
    world.git(&["init", "--quiet", "--initial-branch=new"]);
    let snapshot = world.take();
    assert_eq!((snapshot.commit, snapshot.branch.as_deref()), (None, Some("new")));

    let world = World::with_git();
    world.git(&["checkout", "--quiet", "--detach"]);
    let snapshot = world.take();
    assert_eq!((snapshot.commit.is_some(), snapshot.branch), (true, None));
}

#[test]
fn a_nested_repository_that_git_does_not_read_is_named_and_its_files_belong_to_it() {
    for in_git in [true, false] {
        let world = if in_git { World::with_git() } else { World::new() };
        world.write("sub/a.txt", "a");
        world.write("other/b.txt", "b");
        std::fs::create_dir(world.root().join("sub/.git")).unwrap();
        world.write("other/.git", "gitdir: /nowhere\n");
        let snapshot = world.take();
        let left_out: Vec<_> =
            snapshot.left_out.iter().map(|it| (it.path.to_string(), it.reason)).collect();
        // An empty `.git` is none: for git, the folder belongs to the repository above.
        assert_eq!(left_out, [("other/.git".to_owned(), Reason::Unreadable)]);
        for (path, text) in [("sub/a.txt", "a"), ("other/b.txt", "b")] {
            let contents = world.snapshots.contents(snapshot.id, path.into()).unwrap();
            assert_eq!(contents.as_deref(), Some(text.as_bytes()));
        }
    }
}

#[test]
fn a_rewind_to_when_git_could_not_read_a_nested_repository_removes_nothing_of_it() {
    let world = World::with_git();
    let nested = world.root().join("nested");
    world.write("nested/.gitignore", "ignored\n");
    world.write("nested/ignored", "tracked although it is ignored");
    world.write("nested/changed", "1");
    for args in [&["init", "--quiet"][..], &["add", "--force", "."]] {
        git(&nested, args);
    }
    let head = fs::read(nested.join(".git/HEAD")).unwrap();
    fs::write(nested.join(".git/HEAD"), "damaged").unwrap();
    let unread = world.take();
    assert_eq!(unread.left_out.len(), 1);
    fs::write(nested.join(".git/HEAD"), head).unwrap();
    let then = world.state();

    world.write("nested/changed", "2");
    let before = world.take().id;
    let changes = world.snapshots.preview(before, unread.id, &[]).unwrap();
    let foreseen = world.snapshots.foreseen(&world.root(), before, unread.id, &changes).unwrap();
    let restored = world.restore(unread.id);
    assert_eq!(world.state(), then);
    let skipped: Vec<_> = restored.skipped.iter().map(|it| it.path.to_string()).collect();
    assert_eq!((skipped, &restored.skipped), (vec!["nested/ignored".to_owned()], &foreseen));
}

#[test]
fn a_repository_at_the_top_that_git_does_not_read_is_an_error() {
    // A snapshot without what git tracks although it is ignored would be a smaller one.
    for damage in ["HEAD", "index"] {
        let world = World::with_git();
        fs::write(world.root().join(".git").join(damage), "damaged").unwrap();
        let error = world.snapshots.take(&world.root(), &Taking::default()).unwrap_err();
        assert!(matches!(error, Error::Git { .. }), "{damage}: {error}");
    }
    // Nor is the repository above one that git does not read, whatever its name.
    let world = World::with_git();
    for name in ["nested", "a:b/nested"] {
        let nested = world.root().join(name);
        world.write(&format!("{name}/file"), "1");
        git(&nested, &["init", "--quiet"]);
        world.snapshots.take(&nested, &Taking::default()).unwrap();
        fs::write(nested.join(".git/HEAD"), "damaged").unwrap();
        let error = world.snapshots.take(&nested, &Taking::default()).unwrap_err();
        assert!(matches!(error, Error::Git { .. }), "{error}");
    }
    // An empty folder, as sandboxes put it there, is no repository.
    let world = World::new();
    fs::create_dir(world.root().join(".git")).unwrap();
    world.write("file", "1");
    let snapshot = world.take();
    assert_eq!((snapshot.files, snapshot.left_out), (1, Vec::new()));
}

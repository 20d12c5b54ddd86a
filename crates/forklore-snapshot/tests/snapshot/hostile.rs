//! Folders that were made to do harm: a snapshot runs nothing of theirs and waits for nothing.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use forklore_snapshot::{Error, Taking};

use crate::world::{World, git};

/// Makes git believe that it may fetch missing objects, by a command.
fn fetch_by_a_command(folder: &Path, marker: &Path) {
    // `ext::` splits at spaces: "% " is one inside of an argument.
    let url = format!("ext::sh -c touch% {}", marker.display());
    for (name, value) in [
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("protocol.ext.allow", "always"),
        ("remote.origin.url", &url),
    ] {
        git(folder, &["config", name, value]);
    }
}

fn remove_object(folder: &Path, name: &str) {
    let id = git(folder, &["rev-parse", name]);
    let (first, rest) = id.trim().split_at(2);
    fs::remove_file(folder.join(".git/objects").join(first).join(rest)).unwrap();
}

#[test]
fn a_missing_commit_is_not_fetched_by_a_command_of_the_folder() {
    let world = World::with_git();
    let marker = world.folder().join("ran");
    fetch_by_a_command(&world.root(), &marker);
    remove_object(&world.root(), "HEAD");

    let snapshot = world.take();
    assert!(!marker.exists());
    assert_eq!((snapshot.commit, snapshot.branch.as_deref()), (None, Some("main")));
}

#[test]
fn a_missing_folder_of_a_nested_repository_is_not_fetched_by_a_command() {
    let world = World::with_git();
    world.write("sub/far/file", "far");
    world.write("sub/near", "near");
    let (sub, marker) = (world.root().join("sub"), world.folder().join("ran"));
    git(&sub, &["init", "--quiet"]);
    git(&sub, &["add", "."]);
    git(&sub, &["commit", "--quiet", "--message=first"]);
    git(&sub, &["sparse-checkout", "set", "--cone", "--sparse-index"]);
    assert!(!world.has("sub/far"));
    fetch_by_a_command(&sub, &marker);
    remove_object(&sub, "HEAD:far");

    world.snapshots.take(&world.root(), &Taking::default()).ok();
    assert!(!marker.exists());
}

#[test]
fn rules_that_nobody_can_read_to_their_end_are_named() {
    let world = World::with_git();
    world.write("sub/file", "1");
    world.write("sub/.git/HEAD", "ref: refs/heads/main\n");
    for name in [
        ".gitignore",
        ".git/info/exclude",
        ".git/config",
        "sub/.gitignore",
        "sub/.git/config",
        "sub/.git/info/exclude",
    ] {
        let path = world.root().join(name);
        let before = fs::read(&path).ok();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        for make in [["mkfifo"].as_slice(), &["ln", "-s", "/dev/zero"]] {
            fs::remove_file(&path).ok();
            let (program, args) = make.split_first().unwrap();
            assert!(Command::new(program).args(args).arg(&path).status().unwrap().success());
            let error = world.snapshots.take(&world.root(), &Taking::default()).unwrap_err();
            let Error::File { what: "read", path: named, source } = error else {
                panic!("{error:?}")
            };
            assert_eq!((named.as_path(), source.to_string()), (&*path, NOT_A_FILE.to_owned()));
        }
        fs::remove_file(&path).unwrap();
        if let Some(before) = before {
            fs::write(&path, before).unwrap();
        }
    }
    // Sandboxes hide files behind this device, which has an end.
    fs::remove_file(world.root().join(".gitignore")).ok();
    symlink("/dev/null", world.root().join(".gitignore")).unwrap();
    world.take();
}

/// What an error says about rules that are not a file.
const NOT_A_FILE: &str = "it is not a file; remove it";

#[test]
fn what_lies_behind_a_link_that_replaced_a_tracked_folder_is_not_in_the_workspace() {
    let world = World::with_git();
    world.write("folder/file", "inside");
    git(&world.root(), &["add", "."]);
    fs::remove_dir_all(world.root().join("folder")).unwrap();
    let outside = world.folder().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "outside").unwrap();
    symlink(&outside, world.root().join("folder")).unwrap();

    let snapshot = world.take();
    let contents = |path: &str| world.snapshots.contents(snapshot.id, path.into()).unwrap();
    assert_eq!(contents("folder/file"), None);
    let again = world.take();
    assert_eq!((again.files, again.id), (snapshot.files, snapshot.id));
}

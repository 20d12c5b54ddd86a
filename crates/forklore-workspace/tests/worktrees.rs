//! Worktrees of sessions, with real folders and the real git.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "these are tests: a broken expectation ends the case"
)]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use forklore_snapshot::{Snapshots, Taking};
use forklore_workspace::{Error, NewWorktree, WorkspaceFiles};

/// A workspace, and a store of snapshots.
struct World {
    folder: tempfile::TempDir,
}

type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

impl World {
    /// A folder that no repository has.
    fn without_git() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(world.path("work")).unwrap();
        world
    }

    /// A repository with one commit.
    fn new() -> Self {
        let world = Self::without_git();
        world.git(&["init", "-q", "-b", "main"]);
        for name in ["same", "edited", "staged", "deleted"] {
            world.write(name, name);
        }
        world.git(&["add", "."]);
        world.git(&["commit", "-q", "-m", "first"]);
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join(name)
    }

    fn write(&self, name: impl AsRef<Path>, text: &str) {
        let path = self.path("work").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(&self.path("work"), arguments)
    }

    fn files(&self) -> WorkspaceFiles {
        WorkspaceFiles::open(&self.path("snapshots"), Vec::new())
    }

    /// A worktree to make, with the present state of the workspace.
    fn request(&self, folder: &str) -> NewWorktree {
        self.request_in("work", folder)
    }

    fn request_in(&self, workspace: &str, folder: &str) -> NewWorktree {
        let snapshots = Snapshots::open(&self.path("snapshots")).unwrap();
        let workspace = self.path(workspace);
        let state = snapshots.take(&workspace, &Taking::default()).unwrap();
        let (folder, session) = (self.path(folder), "fork".parse().unwrap());
        NewWorktree { session, workspace, folder, snapshot: state.id, commit: state.commit }
    }
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(arguments);
    let done = git.output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// Everything in a folder but a `.git` at its top.
fn tree(folder: &Path) -> Tree {
    let mut found = all(folder);
    found.retain(|path, _| !path.starts_with(".git"));
    found
}

fn all(folder: &Path) -> Tree {
    let (mut found, mut open) = (Tree::new(), vec![folder.to_path_buf()]);
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let about = fs::symlink_metadata(&path).unwrap();
            let contents = if about.is_dir() {
                open.push(path.clone());
                Vec::new()
            } else if about.is_symlink() {
                fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
            } else {
                fs::read(&path).unwrap()
            };
            let path = path.strip_prefix(folder).unwrap().to_path_buf();
            found.insert(path, (about.permissions().mode(), contents));
        }
    }
    found
}

#[test]
fn the_dirty_state_arrives_and_the_repository_is_as_before_after_the_removal() {
    let world = World::new();
    let (work, folder) = (world.path("work"), world.path("tree"));
    world.write("edited", "other");
    world.write("staged", "other");
    world.git(&["add", "staged"]);
    fs::remove_file(work.join("deleted")).unwrap();
    world.write("new/untracked", "new");
    world.write(OsStr::from_bytes(b"new/\xff"), "no UTF-8");
    symlink("nowhere", work.join("link")).unwrap();
    fs::set_permissions(work.join("same"), fs::Permissions::from_mode(0o711)).unwrap();
    fs::create_dir(work.join("empty")).unwrap();
    world.git(&["status"]);
    let before = all(&work);

    let files = world.files();
    let made = files.create_worktree(&world.request("tree")).unwrap();
    assert_eq!(tree(&folder), tree(&work));
    assert_eq!(git(&folder, &["rev-parse", "HEAD"]), world.git(&["rev-parse", "HEAD"]));
    let status = git(&folder, &["status", "--porcelain"]);
    let dirty = " D deleted\n M edited\n M same\n M staged\n?? link\n?? new/\n";
    assert_eq!(status, dirty);
    let mut others = all(&work);
    others.retain(|path, _| !path.starts_with(".git/worktrees"));
    assert_eq!(others, before);
    assert_eq!(files.worktrees().unwrap(), std::slice::from_ref(&made));
    assert!(made.complete && !made.missing && made.commit.is_some());

    fs::write(folder.join("result"), "42").unwrap();
    fs::set_permissions(folder.join("empty"), fs::Permissions::from_mode(0o500)).unwrap();
    let last = tree(&folder);
    let removed = files.remove_worktree(&folder).unwrap();
    assert!(!folder.exists());
    assert_eq!(all(&work), before);
    assert_eq!(files.worktrees().unwrap(), []);
    let snapshots = Snapshots::open(&world.path("snapshots")).unwrap();
    snapshots.copy_to(&world.path("again"), removed.snapshot.unwrap(), None).unwrap();
    assert_eq!(tree(&world.path("again")), last);
}

#[test]
fn a_folder_without_git_and_one_inside_of_a_repository_are_copied() {
    let world = World::without_git();
    world.write("a/b", "text");
    let files = world.files();
    let made = files.create_worktree(&world.request("tree")).unwrap();
    assert_eq!((made.commit, all(&made.folder)), (None, all(&world.path("work"))));
    files.remove_worktree(&made.folder).unwrap();
    assert!(!made.folder.exists());

    world.git(&["init", "-q"]);
    let inside = NewWorktree { workspace: world.path("work/a"), ..world.request("other") };
    let before = all(&world.path("work"));
    assert_eq!(files.create_worktree(&inside).unwrap().commit, None);
    assert_eq!(all(&world.path("work")), before);
}

#[test]
fn a_folder_that_is_in_use_or_in_the_workspace_is_refused_and_nothing_is_made() {
    let world = World::new();
    let files = world.files();
    fs::create_dir(world.path("full")).unwrap();
    fs::write(world.path("full/mine"), "").unwrap();
    symlink(world.path("work"), world.path("way")).unwrap();
    let before = all(&world.path("work"));
    for name in ["full", "full/mine"] {
        let error = files.create_worktree(&world.request(name)).unwrap_err();
        assert!(matches!(error, Error::InUse { .. } | Error::Record { .. }), "{error}");
    }
    for name in ["work/tree", "work/.git/tree", "way/a/b", "work", "snapshots/tree"] {
        let error = files.create_worktree(&world.request(name)).unwrap_err();
        assert!(matches!(error, Error::InsideWorkspace { .. }), "{name}: {error}");
    }
    assert!(matches!(files.remove_worktree(&world.path("full")), Err(Error::NotOurs { .. })));
    assert_eq!(files.worktrees().unwrap(), []);
    assert_eq!(all(&world.path("work")), before);
}

#[test]
fn a_creation_that_fails_leaves_nothing_behind() {
    let world = World::new();
    let before = all(&world.path("work"));
    let files = world.files();
    let request = NewWorktree { commit: Some("1".repeat(40)), ..world.request("tree") };
    let error = files.create_worktree(&request).unwrap_err();
    assert!(matches!(error, Error::Git { .. }), "{error}");
    assert_eq!((files.worktrees().unwrap(), world.path("tree").exists()), (Vec::new(), false));
    assert_eq!(all(&world.path("work")), before);
}

#[test]
fn two_at_once_with_one_folder_make_one_worktree() {
    let world = World::new();
    let (first, second) = (world.request("tree"), world.request("tree"));
    let made = std::thread::scope(|scope| {
        let both = [first, second].map(|request| {
            let files = world.files();
            scope.spawn(move || files.create_worktree(&request).is_ok())
        });
        both.map(|thread| thread.join().unwrap()).into_iter().filter(|&made| made).count()
    });
    assert_eq!((made, world.files().worktrees().unwrap().len()), (1, 1));
}

#[test]
fn what_no_snapshot_contains_is_not_removed() {
    let world = World::new();
    let files = world.files();
    let folder = files.create_worktree(&world.request("tree")).unwrap().folder;
    git(&folder, &["commit", "-q", "--allow-empty", "-m", "mine"]);
    let refused = files.remove_worktree(&folder);
    assert!(matches!(refused, Err(Error::CommitsOfNoBranch { .. })), "{refused:?}");
    git(&folder, &["branch", "mine"]);
    git(&folder, &["init", "-q", "nested"]);
    let refused = files.remove_worktree(&folder);
    assert!(matches!(refused, Err(Error::WouldBeLost { .. })), "{refused:?}");
    fs::remove_dir_all(folder.join("nested")).unwrap();
    files.remove_worktree(&folder).unwrap();
    assert_eq!(world.git(&["log", "-1", "--format=%s", "mine"]), "mine\n");
}

#[test]
fn commits_that_only_the_worktree_remembers_are_named_and_not_removed() {
    let world = World::new();
    let before = all(&world.path("work"));
    let files = world.files();
    let folder = files.create_worktree(&world.request("tree")).unwrap().folder;
    let commit = |arguments: &[&str], text: &str| {
        git(&folder, &[&["commit", "-q", "--allow-empty", "-m", text], arguments].concat());
        git(&folder, &["rev-parse", "HEAD"]).trim().to_owned()
    };
    commit(&[], "frist");
    let first = commit(&["--amend"], "first");
    // The agent went back, so that only the log of its HEAD has the commit.
    git(&folder, &["checkout", "-q", "--detach", "main"]);
    let refused = |expected: &str| {
        let Err(Error::CommitsOfNoBranch { commit, .. }) = files.remove_worktree(&folder) else {
            panic!("it was removed")
        };
        assert_eq!(commit, expected);
    };
    refused(&first);
    git(&folder, &["branch", "first", &first]);
    // A commit that only a ref of the worktree has.
    let second = git(&folder, &["commit-tree", "-p", "HEAD", "-m", "second", "HEAD^{tree}"]);
    git(&folder, &["update-ref", "refs/worktree/second", second.trim()]);
    refused(second.trim());
    git(&folder, &["update-ref", "-d", "refs/worktree/second"]);

    git(&folder, &["worktree", "lock", "--reason", "on a disk", "."]);
    let locked = files.remove_worktree(&folder).unwrap_err();
    assert!(matches!(&locked, Error::Locked { reason, .. } if reason == "on a disk"), "{locked}");
    git(&folder, &["worktree", "unlock", "."]);
    // What was amended is no loss: the user replaced it.
    files.remove_worktree(&folder).unwrap();
    world.git(&["branch", "-q", "-D", "first"]);
    fs::remove_dir(world.path("work/.git/logs/refs/heads/first")).ok();
    let objects = Path::new(".git/objects");
    let but_objects = |mut tree: Tree| {
        tree.retain(|path, _| !path.starts_with(objects));
        tree
    };
    assert_eq!(but_objects(all(&world.path("work"))), but_objects(before));
}

#[test]
fn what_only_the_entry_has_is_not_removed_with_a_folder_that_is_away() {
    let world = World::new();
    let files = world.files();
    let folder = files.create_worktree(&world.request("tree")).unwrap().folder;
    let entry = world.path("work/.git/worktrees/tree");
    let refused = || files.remove_worktree(&folder).unwrap_err();
    // Changes that git put aside for the time of a rebase.
    git(&folder, &["commit", "-q", "--allow-empty", "-m", "mine"]);
    git(&folder, &["branch", "mine"]);
    fs::write(folder.join("same"), "precious").unwrap();
    let aside = git(&folder, &["stash", "create"]);
    fs::create_dir(entry.join("rebase-merge")).unwrap();
    fs::write(entry.join("rebase-merge/autostash"), &aside).unwrap();
    let error = refused();
    let is_it = |commit: &str| commit == aside.trim();
    assert!(matches!(&error, Error::CommitsOfNoBranch { commit, .. } if is_it(commit)), "{error}");
    fs::remove_dir_all(entry.join("rebase-merge")).unwrap();
    // Repositories of submodules are below the entry, also after their folders are gone.
    fs::create_dir_all(entry.join("modules/sub")).unwrap();
    assert!(matches!(refused(), Error::WouldBeLost { .. }));
    fs::remove_dir_all(entry.join("modules")).unwrap();

    git(&folder, &["worktree", "lock", "."]);
    fs::write(entry.join("locked"), b"caf\xe9").unwrap();
    fs::rename(&folder, world.path("away")).unwrap();
    assert!(matches!(refused(), Error::Locked { .. }));
    fs::remove_file(entry.join("locked")).unwrap();
    world.git(&["branch", "-q", "-D", "mine"]);
    assert!(matches!(refused(), Error::CommitsOfNoBranch { .. }));
    // A HEAD on a branch without commits names none.
    fs::rename(world.path("away"), &folder).unwrap();
    git(&folder, &["branch", "mine"]);
    git(&folder, &["checkout", "-q", "--orphan", "new"]);
    files.remove_worktree(&folder).unwrap();
}

#[test]
fn a_project_that_was_renamed_is_named_and_its_worktree_removed_after_a_repair() {
    let world = World::new();
    let files = world.files();
    let folder = files.create_worktree(&world.request("tree")).unwrap().folder;
    fs::create_dir_all(folder.join("copied/.git")).unwrap();
    let moved = world.path("moved");
    fs::rename(world.path("work"), &moved).unwrap();
    let refused = files.remove_worktree(&folder).unwrap_err();
    assert!(matches!(refused, Error::NoRepository { .. }), "{refused}");
    assert!(folder.join("copied").is_dir());

    git(&moved, &["worktree", "repair", folder.to_str().unwrap()]);
    files.remove_worktree(&folder).unwrap();
    assert_eq!((folder.exists(), moved.join(".git/worktrees").exists()), (false, false));

    // A clone at the old name is another repository.
    let tree = files.create_worktree(&world.request_in("moved", "third")).unwrap().folder;
    git(&tree, &["commit", "-q", "--allow-empty", "-m", "mine"]);
    let again = world.path("again");
    fs::rename(&moved, &again).unwrap();
    git(&again, &["worktree", "repair", tree.to_str().unwrap()]);
    git(&world.path(""), &["clone", "-q", "again", "moved"]);
    let refused = files.remove_worktree(&tree).unwrap_err();
    assert!(matches!(refused, Error::CommitsOfNoBranch { .. }), "{refused}");
    git(&tree, &["branch", "mine"]);
    git(&tree, &["worktree", "lock", "."]);
    let refused = files.remove_worktree(&tree).unwrap_err();
    assert!(matches!(refused, Error::Locked { .. }), "{refused}");
    git(&tree, &["worktree", "unlock", "."]);
    files.remove_worktree(&tree).unwrap();
    fs::remove_dir_all(&moved).unwrap();
    fs::rename(&again, &moved).unwrap();

    // A project and its worktree that are both gone leave nothing to be asked about.
    let (folder, project) = (world.path("second"), world.path("work"));
    fs::rename(&moved, &project).unwrap();
    files.create_worktree(&world.request("second")).unwrap();
    fs::remove_dir_all(&project).unwrap();
    assert!(matches!(files.remove_worktree(&folder), Err(Error::NoRepository { .. })));
    fs::remove_dir_all(&folder).unwrap();
    files.remove_worktree(&folder).unwrap();
}

#[test]
fn a_creation_that_was_killed_is_listed_and_removed() {
    let world = World::new();
    let before = all(&world.path("work"));
    let files = world.files();
    let folder = files.create_worktree(&world.request("tree")).unwrap().folder;
    // What a kill leaves before the last line of the record, with some of the files.
    let record = world.path("snapshots/worktrees/record.jsonl");
    let text = fs::read_to_string(&record).unwrap();
    fs::write(&record, format!("{}\n{{\"compl", text.lines().next().unwrap())).unwrap();
    fs::remove_file(folder.join("same")).unwrap();
    let listed = files.worktrees().unwrap();
    assert_eq!(listed.iter().map(|tree| tree.complete).collect::<Vec<_>>(), [false]);
    // Another worktree of the user that is missing keeps its entry.
    world.git(&["worktree", "add", "-q", "--detach", "../users"]);
    fs::remove_dir_all(world.path("users")).unwrap();
    // A kill between git's first steps leaves an entry that is locked and names no folder.
    fs::remove_dir_all(&folder).unwrap();
    let entry = world.path("work/.git/worktrees/tree");
    fs::remove_dir_all(&entry).unwrap();
    fs::create_dir(&entry).unwrap();
    fs::write(entry.join("locked"), "initializing").unwrap();
    assert!(files.remove_worktree(&folder).unwrap().worktree.missing);
    assert!(world.path("work/.git/worktrees/users").is_dir());
    world.git(&["worktree", "prune"]);
    assert_eq!(all(&world.path("work")), before);
}

#[test]
fn locks_of_removed_worktrees_do_not_pile_up() {
    let world = World::new();
    let files = world.files();
    let folders = ["one", "two", "three"].map(|name| {
        let made = files.create_worktree(&world.request(name)).unwrap();
        assert_eq!(files.worktrees().unwrap().last(), Some(&made));
        made.folder
    });
    let record = world.path("snapshots/worktrees");
    // A kill after the removal left this one.
    fs::write(record.join("99.lock"), "").unwrap();
    let rest = || {
        let names = fs::read_dir(&record).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    let [one, two, three] = &folders;
    files.remove_worktree(two).unwrap();
    assert_eq!(rest(), ["1.lock", "5.lock", "record.jsonl"]);
    files.remove_worktree(one).unwrap();
    files.remove_worktree(three).unwrap();
    assert_eq!(rest(), ["record.jsonl"]);
}

#[test]
fn a_worktree_of_a_worktree_belongs_to_the_same_repository() {
    let world = World::new();
    let before = all(&world.path("work"));
    let files = world.files();
    let first = files.create_worktree(&world.request("first")).unwrap().folder;
    let request = NewWorktree { workspace: first.clone(), ..world.request("second") };
    let second = files.create_worktree(&request).unwrap().folder;
    assert_eq!(tree(&second), tree(&first));
    files.remove_worktree(&first).unwrap();
    assert_eq!(git(&second, &["status", "--porcelain"]), "");
    files.remove_worktree(&second).unwrap();
    assert_eq!(all(&world.path("work")), before);
}

#[test]
fn sparse_and_shallow_clones_and_submodules_have_worktrees() {
    let world = World::new();
    world.write("far/file", "far");
    world.git(&["add", "."]);
    world.git(&["commit", "-q", "-m", "second"]);
    let origin = format!("file://{}", world.path("work").display());
    let allow = "protocol.file.allow=always";
    git(&world.path(""), &["clone", "-q", "--depth=1", &origin, "clone"]);
    let clone = world.path("clone");
    git(&clone, &["-c", allow, "submodule", "--quiet", "add", &origin, "module"]);
    git(&clone, &["commit", "-q", "-m", "module"]);
    git(&clone, &["sparse-checkout", "set", "--skip-checks", "module"]);
    fs::write(clone.join("module/edited"), "other").unwrap();
    fs::write(clone.join("untracked"), "new").unwrap();
    git(&clone, &["status"]);
    let before = all(&clone);

    let files = world.files();
    let snapshots = Snapshots::open(&world.path("snapshots")).unwrap();
    let state = snapshots.take(&clone, &Taking::default()).unwrap();
    let request = NewWorktree {
        workspace: clone.clone(),
        snapshot: state.id,
        commit: state.commit,
        ..world.request("tree")
    };
    let folder = files.create_worktree(&request).unwrap().folder;
    let mut expected = tree(&clone);
    expected.retain(|path, _| !path.starts_with("module/.git"));
    assert_eq!(tree(&folder), expected);
    let status = git(&folder, &["status", "--porcelain"]);
    assert_eq!(status, "?? untracked\n");
    files.remove_worktree(&folder).unwrap();
    assert_eq!(all(&clone), before);
}

#[test]
fn a_bare_repository_is_copied() {
    let world = World::new();
    git(&world.path(""), &["clone", "-q", "--bare", "work", "bare.git"]);
    let snapshots = Snapshots::open(&world.path("snapshots")).unwrap();
    let state = snapshots.take(&world.path("bare.git"), &Taking::default()).unwrap();
    let workspace = world.path("bare.git");
    let request = NewWorktree { workspace, snapshot: state.id, ..world.request("tree") };
    let made = world.files().create_worktree(&request).unwrap();
    assert_eq!((made.commit, all(&made.folder)), (None, all(&world.path("bare.git"))));
}

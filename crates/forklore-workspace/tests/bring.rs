//! Merges of the files of a branch, with real folders and the real git.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "these are tests: a broken expectation ends the case"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forklore_api::{Create, Fork, NewEvent};
use forklore_core::workspace::Workspace;
use forklore_core::{ErrorKind, Header, Selector, SessionId};
use forklore_engine::Engine;
use forklore_store::memory::MemoryStore;
use forklore_workspace::{Error, WorkspaceFiles, Worktree};

/// A session with a folder, and a store of snapshots.
struct World {
    folder: tempfile::TempDir,
    engine: Engine,
    files: WorkspaceFiles,
    session: SessionId,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(folder.path()).unwrap();
        let work = path.join("work");
        fs::create_dir(&work).unwrap();
        fs::write(work.join("mine"), "1").unwrap();
        let engine = Engine::new(Arc::new(MemoryStore::default()));
        let workspace = Workspace::new(work.to_str().unwrap());
        let session = engine.create(&Create::in_workspace(workspace)).unwrap().id;
        engine.append(&session, &NewEvent::user("begin").unwrap().into()).unwrap();
        let files = WorkspaceFiles::open(&path.join("snapshots"), Vec::new());
        Self { folder, engine, files, session }
    }

    fn work(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join("work")
    }

    fn header(&self, session: &SessionId) -> Header {
        self.engine.show(session).unwrap()
    }

    fn record(&self) {
        self.files.snapshot(&self.engine, &self.header(&self.session), &self.work()).unwrap();
    }

    /// Forks the session into a folder of its own.
    fn fork(&self) -> Worktree {
        self.fork_of(&self.session)
    }

    fn fork_of(&self, parent: &SessionId) -> Worktree {
        let (parent, fork) = (self.header(parent), Fork::of(parent.clone()));
        self.files.fork_into(&self.engine, &parent, &fork, None).unwrap().1
    }

    /// Writes a file in the folder of a fork, and records it.
    fn work_in(&self, fork: &Worktree, name: &str) {
        fs::write(fork.folder.join(name), name).unwrap();
        self.files.snapshot(&self.engine, &self.header(&fork.session), &fork.folder).unwrap();
    }

    fn bring(&self, from: &SessionId) -> Result<(String, u64), Error> {
        self.bring_into(&self.session, &self.work(), from)
    }

    fn bring_into(
        &self,
        into: &SessionId,
        folder: &Path,
        from: &SessionId,
    ) -> Result<(String, u64), Error> {
        let (from, into) = (self.header(from), self.header(into));
        let brought = self.files.bring(&self.engine, &from, &into, folder)?;
        Ok((brought.base, brought.restored.written))
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.work().join(name)).ok()
    }
}

#[test]
fn a_branch_is_merged_from_the_state_with_which_its_removed_folder_began() {
    let world = World::new();
    world.record();
    // The log of the session does not name this state, with which the fork begins.
    fs::write(world.work().join("later"), "1").unwrap();
    let fork = world.fork();
    world.work_in(&fork, "result");
    world.files.remove_worktree_of_fork(&world.engine, &fork.folder).unwrap();
    // Nothing that a merge needs is removed.
    world.files.collect(&world.engine, false).unwrap();
    fs::write(world.work().join("later"), "2").unwrap();

    assert_eq!(world.bring(&fork.session).unwrap(), (fork.snapshot.to_string(), 1));
    assert_eq!(world.read("result").as_deref(), Some("result"));
    assert_eq!(world.read("later").as_deref(), Some("2"));
}

/// Takes the record of worktrees back to the line of a kind, as a kill after it leaves it.
fn killed_after(world: &World, kind: &str) {
    let record = world.work().with_file_name("snapshots").join("worktrees/record.jsonl");
    let text = fs::read_to_string(&record).unwrap();
    let mut lines: Vec<_> = text.lines().collect();
    while !lines.last().unwrap().contains(&format!("\"{kind}\"")) {
        lines.pop();
    }
    fs::write(&record, lines.join("\n") + "\n").unwrap();
}

#[test]
fn a_removal_that_was_interrupted_names_no_half_of_the_files() {
    let world = World::new();
    world.record();
    let fork = world.fork();
    world.work_in(&fork, "result");
    world.work_in(&fork, "second");
    let remove = || world.files.remove_worktree_of_fork(&world.engine, &fork.folder);
    let removed = remove().unwrap();
    killed_after(&world, "moved");
    let aside = fork.folder.with_file_name(".forklore-removed-1-0");
    fs::create_dir(&aside).unwrap();
    fs::write(aside.join("second"), "second").unwrap();
    let listed = world.files.worktrees().unwrap();
    assert_eq!(listed.iter().map(|made| made.removing).collect::<Vec<_>>(), [true]);

    // Somebody made a folder at the old name since: it stays.
    fs::create_dir(&fork.folder).unwrap();
    fs::write(fork.folder.join("theirs"), "1").unwrap();
    // So does a repository in the rest.
    fs::create_dir_all(aside.join("nested/.git/objects")).unwrap();
    let refused = remove().unwrap_err();
    assert!(matches!(refused, Error::WouldBeLost { .. }), "{refused}");
    fs::remove_dir_all(aside.join("nested")).unwrap();

    assert_eq!(remove().unwrap().snapshot, removed.snapshot);
    assert_eq!(world.files.worktrees().unwrap(), []);
    assert_eq!((aside.exists(), fork.folder.join("theirs").exists()), (false, true));
    assert_eq!(world.bring(&fork.session).unwrap(), (fork.snapshot.to_string(), 2));
    assert_eq!([world.read("mine"), world.read("result")].map(Option::unwrap), ["1", "result"]);
}

#[test]
fn a_removal_that_moved_nothing_is_begun_anew() {
    let world = World::new();
    world.record();
    let fork = world.fork();
    let remove = || world.files.remove_worktree_of_fork(&world.engine, &fork.folder);
    remove().unwrap();
    killed_after(&world, "removing");
    fs::create_dir(&fork.folder).unwrap();
    fs::create_dir_all(fork.folder.join("nested/.git/objects")).unwrap();
    let refused = remove().unwrap_err();
    assert!(matches!(refused, Error::WouldBeLost { .. }), "{refused}");
    fs::remove_dir_all(fork.folder.join("nested")).unwrap();
    fs::write(fork.folder.join("mine"), "1").unwrap();
    fs::write(fork.folder.join("later"), "later").unwrap();
    remove().unwrap();
    assert!(!fork.folder.exists());
    assert_eq!(world.bring(&fork.session).unwrap().1, 1);
    assert_eq!(world.read("later").as_deref(), Some("later"));
}

#[test]
fn a_branch_without_new_messages_brings_its_files() {
    let world = World::new();
    world.record();
    let fork = world.fork();
    world.work_in(&fork, "result");
    assert_eq!(world.bring(&fork.session).unwrap().1, 1);
    assert_eq!(world.read("result").as_deref(), Some("result"));
}

#[test]
fn a_plan_is_what_is_brought_and_spares_what_changed_since() {
    let world = World::new();
    world.record();
    let fork = world.fork();
    world.work_in(&fork, "result");
    world.work_in(&fork, "other");
    let (from, into) = (world.header(&fork.session), world.header(&world.session));
    let plan = world.files.plan_to_bring(&world.engine, &from, &into, &world.work()).unwrap();
    let shown = world.files.show_planned(&plan).unwrap();
    let paths = shown.restored.changes.iter().map(|change| change.path.as_str());
    assert_eq!(paths.collect::<Vec<_>>(), ["other", "result"]);
    assert_eq!((shown.number, world.read("result")), (None, None));

    fs::write(world.work().join("other"), "mine").unwrap();
    let brought = world.files.bring_planned(plan).unwrap();
    assert_eq!((brought.number, brought.restored.written), (Some(1), 1));
    let skipped = brought.restored.skipped.iter().map(|path| (&*path.path, &*path.reason));
    assert_eq!(skipped.collect::<Vec<_>>(), [("other", "changed")]);
    assert_eq!([world.read("other"), world.read("result")].map(Option::unwrap), ["mine", "result"]);
}

#[test]
fn a_branch_without_a_common_state_is_refused_and_nothing_is_recorded() {
    let world = World::new();
    let request = Fork { label: Some("other".parse().unwrap()), ..Fork::of(world.session.clone()) };
    let fork = world.engine.fork(&request).unwrap().child_session_id;
    world.files.snapshot(&world.engine, &world.header(&fork), &world.work()).unwrap();
    let error = world.bring(&fork).unwrap_err();
    assert!(matches!(error, Error::NoCommonSnapshot { .. }), "{error}");
    let undo = world.files.undo(&world.engine, &world.work(), None).unwrap_err();
    assert!(matches!(undo, Error::NothingToUndo { .. }), "{undo}");
}

#[test]
fn what_nobody_recorded_in_the_folder_of_a_branch_is_brought_too() {
    let world = World::new();
    let fork = world.fork();
    fs::write(fork.folder.join("result"), "1").unwrap();
    assert_eq!(world.bring(&fork.session).unwrap(), (fork.snapshot.to_string(), 1));
    assert_eq!(world.read("result").as_deref(), Some("1"));

    // A branch that goes on in the folder of the fork, as `resume-in` makes one.
    let branch = world.engine.fork(&Fork::of(fork.session.clone())).unwrap().child_session_id;
    fs::write(fork.folder.join("result"), "2").unwrap();
    fs::remove_file(fork.folder.join("mine")).unwrap();
    assert_eq!(world.bring(&branch).unwrap().1, 1);
    assert_eq!((world.read("result").as_deref(), world.read("mine")), (Some("2"), None));
    assert_eq!(world.header(&branch).workspace.as_str(), fork.folder.to_str().unwrap());
}

#[test]
fn only_what_is_new_is_brought_again_unless_it_was_undone() {
    let world = World::new();
    let fork = world.fork();
    let bring = |text: &str| {
        fs::write(fork.folder.join("mine"), text).unwrap();
        world.bring(&fork.session).unwrap()
    };
    let (base, _) = bring("one");
    assert_eq!((base, world.read("mine").unwrap()), (fork.snapshot.to_string(), "one".into()));
    // With the state at the beginning as the base, both would have changed the file.
    bring("two");
    assert_eq!(world.read("mine").as_deref(), Some("two"));
    bring("1");
    assert_eq!(world.read("mine").as_deref(), Some("1"));
    let undo = || drop(world.files.undo(&world.engine, &world.work(), None).unwrap());
    undo();
    undo();
    assert_eq!(world.read("mine").as_deref(), Some("one"));
    let (base, _) = bring("three");
    assert_eq!(world.read("mine").as_deref(), Some("three"));
    assert_ne!(base, fork.snapshot.to_string());
    // Nothing that the next merge needs is removed.
    world.files.collect(&world.engine, false).unwrap();
    bring("four");
    assert_eq!(world.read("mine").as_deref(), Some("four"));
}

#[test]
fn a_folder_that_another_branch_uses_now_is_not_that_of_the_first() {
    let world = World::new();
    let folder = world.work().with_file_name("tree");
    let fork = |name: &str| {
        let (parent, fork) = (world.header(&world.session), Fork::of(world.session.clone()));
        let made = world.files.fork_into(&world.engine, &parent, &fork, Some(&folder)).unwrap().1;
        fs::write(made.folder.join(name), name).unwrap();
        made.session
    };
    let first = fork("first");
    world.files.remove_worktree_of_fork(&world.engine, &folder).unwrap();
    let below = world.engine.fork(&Fork::of(first.clone())).unwrap().child_session_id;
    fork("second");
    for branch in [&first, &below] {
        world.bring(branch).unwrap();
        let read = ["mine", "first", "second"].map(|name| world.read(name));
        assert_eq!(read, [Some("1".into()), Some("first".into()), None]);
    }
}

#[test]
fn another_folder_at_the_name_of_a_branchs_folder_is_not_brought() {
    let world = World::new();
    let fork = world.fork();
    let aside = fork.folder.with_file_name("aside");
    fs::rename(&fork.folder, &aside).unwrap();
    let refused = || {
        let refused = world.bring(&fork.session).unwrap_err();
        assert!(matches!(refused, Error::NotTheWorktree { .. }), "{refused}");
        assert_eq!(world.read("mine").as_deref(), Some("1"));
    };
    refused();
    fs::create_dir(&fork.folder).unwrap();
    refused();
    fs::remove_dir(&fork.folder).unwrap();
    std::os::unix::fs::symlink(&aside, &fork.folder).unwrap();
    refused();
    fs::remove_file(&fork.folder).unwrap();
    fs::rename(&aside, &fork.folder).unwrap();
    world.bring(&fork.session).unwrap();
}

#[test]
fn a_fork_of_a_fork_brings_the_work_of_both() {
    let world = World::new();
    let first = world.fork();
    world.work_in(&first, "first");
    let second = world.fork_of(&first.session);
    fs::write(second.folder.join("mine"), "second").unwrap();
    let third = world.fork_of(&second.session);
    fs::write(third.folder.join("first"), "third").unwrap();
    // The one in between needs no folder any more.
    world.files.remove_worktree_of_fork(&world.engine, &second.folder).unwrap();

    let brought = world.bring(&third.session).unwrap();
    assert_eq!(brought, (first.snapshot.to_string(), 2));
    let read = ["mine", "first"].map(|name| world.read(name).unwrap());
    assert_eq!(read, ["second", "third"]);
    // What the two share is no change for the one above.
    let into_first = world.bring_into(&first.session, &first.folder, &third.session).unwrap();
    assert_eq!(into_first, (second.snapshot.to_string(), 2));
}

#[test]
fn what_a_relative_brought_is_not_brought_again() {
    let world = World::new();
    let first = world.fork();
    let write = |fork: &Worktree, name: &str, text: &str| {
        fs::write(fork.folder.join(name), text).unwrap();
    };
    write(&first, "unwanted", "1");
    write(&first, "line", "first");
    let second = world.fork_of(&first.session);
    write(&second, "good", "1");
    write(&first, "line", "first, later");
    world.bring(&first.session).unwrap();
    fs::remove_file(world.work().join("unwanted")).unwrap();
    // Of the first one, the second has what was brought: its own work alone is new.
    assert_eq!(world.bring(&second.session).unwrap(), (second.snapshot.to_string(), 1));
    let read = ["unwanted", "line", "good"].map(|name| world.read(name));
    assert_eq!(read, [None, Some("first, later".into()), Some("1".into())]);

    // A fork of the second one, and then the second one with more.
    let third = world.fork_of(&second.session);
    write(&third, "good", "3");
    world.bring(&third.session).unwrap();
    write(&second, "other", "2");
    world.bring(&second.session).unwrap();
    let read = ["good", "other"].map(|name| world.read(name).unwrap());
    assert_eq!(read, ["3", "2"]);

    // What the first one did after it was brought is in a later fork of it, and is new.
    write(&first, "late", "1");
    let fourth = world.fork_of(&first.session);
    world.bring(&fourth.session).unwrap();
    assert_eq!((world.read("late"), world.read("unwanted")), (Some("1".into()), None));
}

#[test]
fn sessions_in_one_folder_have_one_timeline() {
    let world = World::new();
    world.record();
    let below = world.engine.fork(&Fork::of(world.session.clone())).unwrap().child_session_id;
    fs::write(world.work().join("mine"), "below").unwrap();
    let fork = world.fork_of(&below);
    fs::write(fork.folder.join("mine"), "fork").unwrap();
    assert_eq!(world.bring(&fork.session).unwrap(), (fork.snapshot.to_string(), 1));
    assert_eq!(world.read("mine").as_deref(), Some("fork"));
}

#[test]
fn turns_between_the_fork_and_a_later_one_are_brought_too() {
    let world = World::new();
    world.record();
    world.engine.append(&world.session, &NewEvent::user("go on").unwrap().into()).unwrap();
    fs::write(world.work().join("second"), "2").unwrap();
    world.record();
    let late = world.fork();
    fs::write(late.folder.join("late"), "1").unwrap();
    let parent = world.header(&world.session);
    let at = Fork { at: Some(Selector::Turn(1)), ..Fork::of(world.session.clone()) };
    let early = world.files.fork_into(&world.engine, &parent, &at, None).unwrap().1;
    let brought = world.bring_into(&early.session, &early.folder, &late.session).unwrap();
    assert_eq!(brought, (early.snapshot.to_string(), 2));
    for name in ["second", "late"] {
        assert!(early.folder.join(name).exists(), "{name}");
    }
}

#[test]
fn a_fork_of_what_a_fork_inherited_brings_only_its_own_work() {
    let world = World::new();
    world.record();
    let first = world.fork();
    world.engine.append(&first.session, &NewEvent::user("go on").unwrap().into()).unwrap();
    world.work_in(&first, "first");
    let parent = world.header(&first.session);
    let at = Fork { at: Some(Selector::Turn(1)), ..Fork::of(first.session.clone()) };
    let second = world.files.fork_into(&world.engine, &parent, &at, None).unwrap().1;
    assert!(!second.folder.join("first").exists());
    world.work_in(&second, "second");
    assert_eq!(world.bring(&second.session).unwrap(), (second.snapshot.to_string(), 1));
    assert_eq!((world.read("first"), world.read("second")), (None, Some("second".into())));
}

#[test]
fn the_work_of_the_parent_is_brought_from_where_the_fork_began() {
    let world = World::new();
    world.record();
    fs::write(world.work().join("mine"), "of nobody's snapshot").unwrap();
    let fork = world.fork();
    fs::write(fork.folder.join("mine"), "of the fork").unwrap();
    world.engine.append(&world.session, &NewEvent::user("go on").unwrap().into()).unwrap();
    fs::write(world.work().join("later"), "of the parent").unwrap();
    world.record();
    let brought = world.bring_into(&fork.session, &fork.folder, &world.session).unwrap();
    assert_eq!(brought, (fork.snapshot.to_string(), 1));
    let read = ["mine", "later"].map(|name| fs::read_to_string(fork.folder.join(name)).unwrap());
    assert_eq!(read, ["of the fork", "of the parent"]);
}

#[test]
fn a_file_instead_of_the_folder_of_all_worktrees_is_named() {
    let world = World::new();
    fs::write(world.work().with_file_name("work.worktrees"), "").unwrap();
    let (parent, fork) = (world.header(&world.session), Fork::of(world.session.clone()));
    let refused = world.files.fork_into(&world.engine, &parent, &fork, None).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgs, "{refused}");
    assert!(refused.to_string().contains("work.worktrees"), "{refused}");
}

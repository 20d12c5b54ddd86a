//! Tests of backups: of a store to which processes write, and with kills at every step.

use std::path::{Path, PathBuf};

use forklore::{StoreUrl, blocking, store_at};
use forklore_conformance::scene::id;
use forklore_faults::caller::Caller;
use forklore_faults::copying::{BACK_UP, RESTORE};
use forklore_faults::history::{Call, Line, entries, monotonic};
use forklore_faults::kind::Kind;
use forklore_faults::picture::{self, Picture};
use forklore_faults::process::{Process, Task};
use forklore_faults::soak::times;
use forklore_faults::test_folder::TestFolder;
use forklore_store::port::LogEntry;
use forklore_store::{Error, Store};

use crate::world::{World, for_each_store};

/// The number of processes that write while backups are made.
const WRITERS: u64 = 3;
/// The number of backups that are made meanwhile.
const BACKUPS: u64 = 3;
/// The number of messages of each process between two backups. A call has two.
const MESSAGES: usize = 60;

for_each_store!(
    crowd_is_copied_as_it_was_at_one_moment,
    kill_at_any_step_leaves_no_half_copy,
    what_is_there_is_never_replaced,
);

/// Returns the log of a session; `None` if the session was deleted.
fn log(store: &dyn Store, session: &str) -> Option<Vec<LogEntry>> {
    match picture::log(store, &id(session)) {
        Err(Error::Deleted(_)) => None,
        log => Some(log.unwrap()),
    }
}

/// Returns the path of a backup of this kind of store, next to the store.
fn path(folder: &TestFolder, name: &str) -> PathBuf {
    folder.path().join(name)
}

/// Opens a backup with the library.
fn open(backup: &Path) -> forklore::Engine {
    blocking::open_url(&store_at(backup).expect("a backup")).unwrap()
}

fn url(folder: &TestFolder) -> StoreUrl {
    folder.kind().url(&folder.store_dir()).parse().unwrap()
}

fn crowd_is_copied_as_it_was_at_one_moment(kind: Kind) {
    let world = World::new(kind, 0);
    let started = (0..WRITERS).map(|number| {
        let mut process = World::start(&world.task(&format!("w{number}"), 0));
        process.go();
        (format!("w{number}"), process, Vec::<Line>::new())
    });
    let mut writers: Vec<_> = started.collect();
    let mut backups = Vec::new();
    for number in 0..times(BACKUPS) {
        for (_, process, lines) in &mut writers {
            lines.extend((0..MESSAGES).map(|_| process.received::<Line>().expect("a writer")));
        }
        let (begun, path) = (monotonic(), path(&world.folder, &format!("backup-{number}")));
        let copy = blocking::back_up(&url(&world.folder), &path, &mut |_| ()).unwrap();
        assert!(copy.events > 0, "{copy:?}");
        backups.push((begun, path));
    }
    let mut calls = world.history;
    for (name, process, mut lines) in writers {
        lines.extend(process.killed::<Line>());
        calls.extend(entries(&name, &lines));
    }
    let source = world.folder.open();
    for (begun, path) in backups {
        let backup = open(&path);
        assert_eq!(backup.verify(None).unwrap().problems, [], "{}", path.display());
        for header in backup.store().sessions(&Default::default(), None, 0).unwrap().all().unwrap()
        {
            let copied = log(backup.store(), header.id.as_str()).expect("a session in a list");
            if let Some(now) = log(source.store(), header.id.as_str()) {
                assert!(now.starts_with(&copied), "{} is no prefix", header.id);
            }
        }
        let earlier = calls.iter().filter(|call| call.is_done() && call.until() < begun);
        for call in earlier.filter(|call| !call.call.events().is_empty()) {
            let session = call.call.session().expect("a call that writes events");
            let Some(copied) = log(backup.store(), session) else { continue };
            for event in call.call.events() {
                let is_there = copied.iter().any(|entry| entry.event.id.as_str() == event);
                assert!(is_there, "{event} of {session} was acknowledged before the backup");
            }
        }
    }
}

/// Creates a store with two sessions, one of which shares events of the other, and an attachment.
fn small(folder: &TestFolder) {
    let opened = folder.open();
    let mut caller = Caller::new(&opened, |_| ());
    for (session, parent) in [("trunk", None), ("child", Some("trunk".to_owned()))] {
        let answer = caller.call(Call::Create {
            session: session.into(),
            inheritable: if parent.is_some() { 3 } else { 0 },
            parent,
            copy: false,
            events: (0..4).map(|event| format!("{session}.{event}")).collect(),
        });
        assert!(answer.is_done(), "{answer:?}");
    }
    let attach = forklore::api::Attach { text: Some("see".into()), ..Default::default() };
    opened.engine.attach(&id("trunk"), &mut &b"attached"[..], &attach).unwrap();
}

fn picture(store: &dyn Store) -> Picture {
    Picture::of(store, "").unwrap()
}

/// Runs processes that each do `work` and kill themselves one step later than the one before, until
/// one succeeds. Calls `check` after each kill. Returns the number of kills.
fn killed_at_every_step(folder: &TestFolder, work: &str, backup: &Path, check: impl Fn()) -> u64 {
    for kills in 0.. {
        let task = Task {
            work: work.into(),
            kind: folder.kind(),
            store: folder.store_dir(),
            name: "k".into(),
            seed: 0,
            calls: kills + 1,
            file: Some(backup.to_owned()),
        };
        let program = Path::new(env!("CARGO_BIN_EXE_forklore-faults"));
        let (status, _) = Process::start(program, &task).ended::<String>();
        if status.success() {
            return kills;
        }
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9), "{status}");
        check();
        // A kill after the last change of a name leaves the complete result.
        let result = match work {
            RESTORE => url(folder).path().unwrap().to_owned(),
            _ => backup.to_owned(),
        };
        if result.exists() {
            return kills + 1;
        }
    }
    unreachable!("a process that is not killed ends")
}

fn kill_at_any_step_leaves_no_half_copy(kind: Kind) {
    let folder = TestFolder::in_memory(kind);
    small(&folder);
    let before = picture(folder.open().store());
    let backup = path(&folder, "backup");
    let kills = killed_at_every_step(&folder, BACK_UP, &backup, || {
        assert_eq!(picture(folder.open().store()), before);
        if backup.exists() {
            assert_eq!(picture(open(&backup).store()), before);
        }
    });
    assert!(kills > 3, "only {kills} kills");
    assert_eq!(picture(open(&backup).store()), before);

    let new = TestFolder::in_memory(kind);
    std::fs::create_dir_all(new.store_dir().parent().unwrap()).unwrap();
    let restored = url(&new).path().unwrap().to_owned();
    let kills = killed_at_every_step(&new, RESTORE, &backup, || {
        assert_eq!(picture(open(&backup).store()), before);
        if restored.exists() {
            assert_eq!(picture(new.open().store()), before);
        }
    });
    assert!(kills > 3, "only {kills} kills");
    assert_eq!(picture(new.open().store()), before);
    assert_eq!(new.open().engine.verify(None).unwrap().problems, []);
}

fn what_is_there_is_never_replaced(kind: Kind) {
    let folder = TestFolder::in_memory(kind);
    small(&folder);
    let backup = path(&folder, "backup");
    std::fs::write(&backup, "my notes").unwrap();
    let refused = blocking::back_up(&url(&folder), &backup, &mut |_| ()).unwrap_err();
    assert_eq!(refused.kind(), forklore_core::ErrorKind::AlreadyExists, "{refused}");
    assert_eq!(std::fs::read_to_string(&backup).unwrap(), "my notes");
    std::fs::remove_file(&backup).unwrap();
    blocking::back_up(&url(&folder), &backup, &mut |_| ()).unwrap();
    let before = picture(folder.open().store());
    let refused = blocking::restore_backup(&backup, &url(&folder), &mut |_| ()).unwrap_err();
    assert_eq!(refused.kind(), forklore_core::ErrorKind::AlreadyExists, "{refused}");
    assert_eq!(picture(folder.open().store()), before);
}

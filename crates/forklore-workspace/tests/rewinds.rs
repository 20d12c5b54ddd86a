//! Rewinds of a folder and their undo, with real folders and the real git.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "these are tests: a broken expectation ends the case"
)]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forklore_api::{Create, Fork, NewEvent, RewindScope, Rewound, Undo};
use forklore_core::workspace::Workspace;
use forklore_core::{Header, Selector, SessionId};
use forklore_engine::{Clock, Engine, SystemClock};
use forklore_store::memory::MemoryStore;
use forklore_workspace::{Rewind, WorkspaceFiles};
use jiff::Timestamp;

/// A session whose folder had the file `a` with "then", and has it with "now".
struct World {
    _folder: tempfile::TempDir,
    work: PathBuf,
    engine: Engine,
    files: WorkspaceFiles,
    session: SessionId,
}

/// A clock that does something once, when the engine looks at the time.
struct Meanwhile<F> {
    armed: Arc<AtomicBool>,
    act: F,
}

impl<F: Fn() + Send + Sync> Clock for Meanwhile<F> {
    fn now(&self) -> Timestamp {
        if self.armed.swap(false, Ordering::SeqCst) {
            (self.act)();
        }
        SystemClock.now()
    }

    fn random(&self) -> [u8; 10] {
        SystemClock.random()
    }
}

impl World {
    fn new(armed: &Arc<AtomicBool>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(folder.path()).unwrap();
        let work = path.join("work");
        fs::create_dir(&work).unwrap();
        let edited = work.join("a");
        let act = move || fs::write(&edited, "meanwhile").unwrap();
        let clock = Meanwhile { armed: Arc::clone(armed), act };
        let engine = Engine::new(Arc::new(MemoryStore::default())).with_clock(Arc::new(clock));
        let workspace = Workspace::new(work.to_str().unwrap());
        let session = engine.create(&Create::in_workspace(workspace)).unwrap().id;
        let files = WorkspaceFiles::open(&path.join("snapshots"), Vec::new());
        for (text, state) in [("one", "then"), ("two", "now")] {
            engine.append(&session, &NewEvent::user(text).unwrap().into()).unwrap();
            fs::write(work.join("a"), state).unwrap();
            files.snapshot(&engine, &engine.show(&session).unwrap(), &work).unwrap();
        }
        Self { _folder: folder, work, engine, files, session }
    }

    fn rewind(&self) -> Rewound {
        let header = self.engine.show(&self.session).unwrap();
        self.rewind_to("turn:1", &header)
    }

    fn rewind_to(&self, at: &str, header: &Header) -> Rewound {
        let rewind = Rewind {
            at: at.parse().unwrap(),
            scope: RewindScope::Both,
            folder: self.work.clone(),
            label: None,
            paths: Vec::new(),
        };
        self.files.rewind(&self.engine, header, &rewind).unwrap()
    }

    fn read(&self) -> String {
        fs::read_to_string(self.work.join("a")).unwrap()
    }
}

#[test]
fn what_is_edited_while_the_fork_is_made_stays() {
    let armed = Arc::new(AtomicBool::new(false));
    let world = World::new(&armed);
    armed.store(true, Ordering::SeqCst);
    let rewound = world.rewind();
    assert!(!armed.load(Ordering::SeqCst));
    let skipped = rewound.files.unwrap().skipped;
    assert_eq!(skipped.iter().map(|left| left.path.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(world.read(), "meanwhile");
}

#[test]
fn conversation_and_files_go_back_to_one_position_though_the_session_grew() {
    let world = World::new(&Arc::default());
    let header = world.engine.show(&world.session).unwrap();
    world.engine.append(&world.session, &NewEvent::user("three").unwrap().into()).unwrap();
    let rewound = world.rewind_to("turn:-2", &header);
    assert_eq!(rewound.forked.unwrap().cut.turn, Some(1));
    assert_eq!(world.read(), "then");
}

#[test]
fn a_fork_with_a_worktree_begins_where_its_folder_does_though_the_session_grew() {
    for at in [None, Some("end"), Some("turn:-1"), Some("message:-1")] {
        let world = World::new(&Arc::default());
        let armed = Arc::new(AtomicBool::new(false));
        let store = world.engine.shared_store();
        let (writer, session) = (Engine::new(Arc::clone(&store)), world.session.clone());
        let act = move || {
            writer.append(&session, &NewEvent::user("three").unwrap().into()).unwrap();
        };
        let clock = Meanwhile { armed: Arc::clone(&armed), act };
        let engine = Engine::new(store).with_clock(Arc::new(clock));
        let header = engine.show(&world.session).unwrap();
        let at: Option<Selector> = at.map(|at| at.parse().unwrap());
        let cut = engine.cut(&header, at.as_ref().unwrap_or(&Selector::End)).unwrap();
        let request = Fork { at: at.clone(), ..Fork::of(world.session.clone()) };
        armed.store(true, Ordering::SeqCst);
        let (forked, worktree) = world.files.fork_into(&engine, &header, &request, None).unwrap();
        assert!(!armed.load(Ordering::SeqCst));
        assert_eq!(forked.cut.inheritable, cut.inheritable, "{at:?}");
        assert_eq!(fs::read_to_string(worktree.folder.join("a")).unwrap(), "now");
    }
}

#[test]
fn the_files_come_back_though_the_fork_was_gone_on_with() {
    let world = World::new(&Arc::default());
    let fork = world.rewind().forked.unwrap().child_session_id;
    assert_eq!(world.read(), "then");
    world.engine.append(&fork, &NewEvent::user("on").unwrap().into()).unwrap();
    let undone = world.files.undo(&world.engine, &world.work, None).unwrap();
    assert_eq!((undone.fork, undone.fork_left), (None, Some(fork.clone())));
    assert_eq!(world.read(), "now");
    assert!(world.engine.show(&fork).is_ok());
    // The redo leaves the fork as it is too.
    world.files.undo(&world.engine, &world.work, Some(undone.number)).unwrap();
    assert_eq!(world.read(), "then");
    assert!(world.engine.show(&fork).is_ok());
}

#[test]
fn the_files_come_back_though_the_operation_was_undone_already() {
    let world = World::new(&Arc::default());
    let fork = world.rewind().forked.unwrap().child_session_id;
    world.engine.undo(&Undo { operation: None, partial: false, dry_run: false }).unwrap();
    let undone = world.files.undo(&world.engine, &world.work, None).unwrap();
    assert_eq!((undone.fork, undone.fork_left), (Some(fork), None));
    assert_eq!(world.read(), "now");
}

#[test]
fn the_folder_of_a_fork_goes_back_to_what_the_fork_inherited() {
    let world = World::new(&Arc::default());
    let header = |session: &SessionId| world.engine.show(session).unwrap();
    let fork = |parent: &SessionId, at: Option<Selector>| {
        let request = Fork { at, ..Fork::of(parent.clone()) };
        world.files.fork_into(&world.engine, &header(parent), &request, None).unwrap().1
    };
    let first = fork(&world.session, None);
    let at: Selector = "turn:1".parse().unwrap();
    let folder = first.folder.clone();
    let rewind = Rewind {
        at: at.clone(),
        scope: RewindScope::Files,
        folder: folder.clone(),
        label: None,
        paths: Vec::new(),
    };
    world.files.rewind(&world.engine, &header(&first.session), &rewind).unwrap();
    assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "then");
    assert_eq!(world.read(), "now");
    // A fork of the fork, at a position before the first one.
    let second = fork(&first.session, Some(at));
    assert_eq!(fs::read_to_string(second.folder.join("a")).unwrap(), "then");
}

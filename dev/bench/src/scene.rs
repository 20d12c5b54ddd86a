//! Creates the stores and sessions that the measurements use.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use forklore::core::limits::BATCH_EVENTS;
use forklore::core::workspace::Workspace;
use forklore::prelude::*;
use forklore_sqlite::{Options, SqliteStore};
use tempfile::TempDir;

use crate::error::{Doing, Error, Result};

/// How large the measured sessions, families and files are, and how often the operations are
/// repeated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Event counts of a short and of a long session, which are compared.
    pub(crate) events: [usize; 2],
    /// Message counts of the sessions that are also created in the peers, the libraries that
    /// forklore is compared with. Promised limits apply to the last count.
    pub(crate) messages: [usize; 3],
    /// Event counts of sessions that are too long for the peers, the libraries that forklore is
    /// compared with.
    pub(crate) beyond: [usize; 2],
    /// Numbers of ancestors of the sessions that are forked, in ascending order.
    pub(crate) depths: [usize; 4],
    /// The largest number of ancestors at which the peers are measured. Peers are the libraries
    /// that forklore is compared with; for longer chains they would take minutes.
    pub(crate) patience: usize,
    /// Event counts of the sessions that are loaded completely. Promised limits apply to the fourth
    /// and the last count.
    pub(crate) loads: [usize; 6],
    /// The number of events of each history of which a load is measured. One history is a single
    /// session; the others are spread over chains of forks.
    pub(crate) spanned: usize,
    /// The number of events of the session for which the size of the store on disk is measured.
    pub(crate) stored: usize,
    pub(crate) depth: usize,
    pub(crate) siblings: usize,
    pub(crate) sessions: usize,
    /// The sizes of the small and of the large file whose imports are measured, in bytes.
    pub(crate) imports: [u64; 2],
    /// The number of the sessions that are searched, and the size of all their payloads in bytes.
    pub(crate) searched: (usize, u64),
    /// The number of files of the repository of which snapshots are compared with git.
    pub(crate) files: usize,
    /// The number of files of the folder of which many snapshots are taken, and the size of each.
    pub(crate) large_tree: (usize, usize),
    /// The number of these snapshots.
    pub(crate) snapshots: usize,
    /// The usual number of measured repetitions of an operation such as a fork. Slow operations are
    /// repeated less often, and durable appends five times as often.
    pub(crate) rounds: usize,
    /// The number of measured starts of the program for each of its commands that are compared.
    pub(crate) starts: usize,
    /// The duration for which several processes write, in milliseconds.
    pub(crate) millis: u64,
}

impl Sizes {
    /// The sizes for a complete run. What forklore promises about speed applies to these sizes.
    pub(crate) const FULL: Self = Self {
        events: [10, 1_000_000],
        messages: [10, 1_000, 10_000],
        beyond: [100_000, 1_000_000],
        depths: [1, 10, 100, 1_000],
        patience: 100,
        loads: [10, 100, 1_000, 5_000, 20_000, 100_000],
        spanned: 5_000,
        stored: 100_000,
        depth: 1_000,
        siblings: 10_000,
        sessions: 100_000,
        imports: [100_000_000, 1_000_000_000],
        searched: (10_000, 1_000_000_000),
        files: 100_000,
        large_tree: (70_000, 14_286),
        snapshots: 1_000,
        rounds: 400,
        starts: 60,
        millis: 1_500,
    };

    /// Sizes for a quick run, just large enough to run every line of code.
    pub(crate) const QUICK: Self = Self {
        events: [10, 1_000],
        messages: [10, 50, 100],
        beyond: [500, 1_000],
        depths: [1, 3, 10, 20],
        patience: 10,
        loads: [10, 20, 50, 100, 500, 1_000],
        spanned: 200,
        stored: 500,
        depth: 20,
        siblings: 50,
        sessions: 100,
        imports: [200_000, 1_000_000],
        searched: (30, 400_000),
        files: 300,
        large_tree: (200, 2_000),
        snapshots: 3,
        rounds: 20,
        starts: 5,
        millis: 200,
    };
}

/// The environment of one benchmark run: a temporary directory and the sizes to use.
pub(crate) struct Scene {
    /// Sessions that several measurements share. The key is the number of events of the session.
    sessions: RefCell<BTreeMap<usize, Rc<(Bed, SessionId)>>>,
    dir: TempDir,
    pub(crate) sizes: Sizes,
    /// The path of the Python in which the peers (the libraries that forklore is compared with) are
    /// installed.
    python: Option<PathBuf>,
}

impl Scene {
    pub(crate) fn below(dir: &Path, sizes: Sizes) -> Result<Self> {
        let made = tempfile::Builder::new().prefix("run-").tempdir_in(dir);
        let dir = made.doing("cannot make a folder in", dir)?;
        Ok(Self { sessions: RefCell::default(), dir, sizes, python: None })
    }

    /// Sets the path of the Python in which the peers (the libraries that forklore is compared
    /// with) are installed.
    pub(crate) fn with_peers(mut self, python: Option<PathBuf>) -> Self {
        self.python = python;
        self
    }

    /// Returns the path of the Python in which the peers (the libraries that forklore is compared
    /// with) are installed. Fails if the options name none.
    pub(crate) fn python(&self) -> Result<&Path> {
        let hint =
            "the peers need --peers PYTHON; `cargo xtask bench` installs them and says where";
        self.python.as_deref().ok_or_else(|| Error::Wrong(hint.into()))
    }

    /// Returns how often to repeat a measured operation: `most` times, but no more often than the
    /// sizes of this run allow.
    pub(crate) fn rounds(&self, most: usize) -> usize {
        most.min(self.sizes.rounds)
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Creates a directory for one store. Dropping the returned guard removes the directory.
    pub(crate) fn folder(&self) -> Result<TempDir> {
        TempDir::new_in(self.dir()).doing("cannot make a folder in", self.dir())
    }

    /// Creates a store with the content that `fill` writes. Then closes, syncs and reopens the
    /// store, so that no unfinished work disturbs the measurement.
    pub(crate) fn store<T>(&self, fill: impl FnOnce(&Engine) -> Result<T>) -> Result<(Bed, T)> {
        let dir = self.folder()?;
        let file = dir.path().join("store.db");
        let filled = fill(&Bed::open(&file)?.0)?;
        File::open(&file).and_then(|file| file.sync_all()).doing("cannot sync", &file)?;
        let (engine, store) = Bed::open(&file)?;
        Ok((Bed { engine, store, files: Files { file, dir } }, filled))
    }

    /// Returns a session with `events` events in a store of its own. The session is cached for the
    /// whole run, because a long session takes a while to write. Earlier measurements may therefore
    /// have forked it or appended to it.
    pub(crate) fn session(&self, events: usize) -> Result<Rc<(Bed, SessionId)>> {
        if let Some(made) = self.sessions.borrow().get(&events) {
            return Ok(made.clone());
        }
        let made = Rc::new(self.store(|engine| session(engine, events))?);
        self.sessions.borrow_mut().insert(events, made.clone());
        Ok(made)
    }
}

/// An open SQLite store whose operations are measured.
pub(crate) struct Bed {
    pub(crate) engine: Engine,
    store: Arc<SqliteStore>,
    files: Files,
}

/// The files of a SQLite store. Dropping this value removes them from the disk.
pub(crate) struct Files {
    file: PathBuf,
    dir: TempDir,
}

impl Files {
    /// Returns the path of the store's database file.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the total size of the store's files in bytes. SQLite's `-shm` file, an index in
    /// shared memory, is left out because it contains no data.
    pub(crate) fn size(&self) -> Result<u64> {
        let mut size = 0;
        for file in fs::read_dir(self.dir.path()).doing("cannot list", self.dir.path())? {
            let file = file.doing("cannot list", self.dir.path())?.path();
            if !file.to_string_lossy().ends_with("-shm") {
                size += fs::metadata(&file).doing("cannot see", &file)?.len();
            }
        }
        Ok(size)
    }

    /// Returns the URL of the store.
    pub(crate) fn url(&self) -> String {
        format!("sqlite:{}", self.file.display())
    }
}

impl Bed {
    fn open(file: &Path) -> Result<(Engine, Arc<SqliteStore>)> {
        let store = Arc::new(SqliteStore::open(file, Options::default())?);
        Ok((Engine::new(store.clone()), store))
    }

    /// Closes the store and returns its files, which other programs can then open.
    pub(crate) fn close(self) -> Files {
        self.files
    }

    /// Returns the files of the store.
    pub(crate) fn files(&self) -> &Files {
        &self.files
    }

    /// Returns the number of data bytes passed to SQL statements as parameters since the store was
    /// opened.
    pub(crate) fn bound_bytes(&self) -> u64 {
        self.store.bound_bytes()
    }

    /// Returns the number of pages in SQLite's WAL, the log of recent writes. Reads it from the
    /// header of the WAL's index file. Returns `None` before the first write, or if the index is
    /// not a file.
    pub(crate) fn log_pages(&self) -> Option<u32> {
        let mut name = self.files.file.clone().into_os_string();
        name.push("-shm");
        let index = std::fs::read(name).ok()?;
        let frames = index.get(16..20)?.try_into().ok()?;
        Some(u32::from_ne_bytes(frames))
    }
}

/// Returns a workspace for measured sessions. The workspace has no effect on the measurement.
pub(crate) fn workspace() -> Workspace {
    Workspace::new("/home/dev/demo")
}

/// Returns message number `n` of a session, from 0: 1 KB of JSON. Even numbers are user messages,
/// odd numbers assistant messages.
pub(crate) fn message(n: usize) -> Result<NewEvent> {
    let filler = "It depends on what the caller has seen so far. ";
    let mut text = format!("{n:>8} {}", filler.repeat(22));
    text.truncate(1_024 - r#"{"content":""}"#.len());
    let event =
        if n.is_multiple_of(2) { NewEvent::user(&text) } else { NewEvent::assistant(&text) };
    Ok(event.map_err(forklore::Error::from)?)
}

/// Creates a root session with `events` messages.
pub(crate) fn session(engine: &Engine, events: usize) -> Result<SessionId> {
    let id = engine.create(&Create::in_workspace(workspace()))?.id;
    extend(engine, &id, 0..events)?;
    Ok(id)
}

/// Appends generated messages to a session, in batches of the maximum size. `numbers` are the
/// numbers of the messages.
pub(crate) fn extend(
    engine: &Engine,
    session: &SessionId,
    numbers: std::ops::Range<usize>,
) -> Result<()> {
    let mut from = numbers.start;
    while from < numbers.end {
        let to = numbers.end.min(from + BATCH_EVENTS);
        let events = (from..to).map(message).collect::<Result<Vec<_>>>()?;
        engine.append(session, &events.into())?;
        from = to;
    }
    Ok(())
}

/// Creates a chain of `depth` forks, each with one turn, starting at `root`. Returns the last fork.
pub(crate) fn chain(engine: &Engine, root: SessionId, depth: usize) -> Result<SessionId> {
    let mut last = root;
    for _ in 0..depth {
        last = engine.fork(&Fork::of(last))?.child_session_id;
        extend(engine, &last, 0..2)?;
    }
    Ok(last)
}

/// Returns a selector of the turn in the middle of a session. A fork can be made at this turn.
pub(crate) fn middle(engine: &Engine, session: &SessionId) -> Result<Selector> {
    let turns = engine.show(session)?.counts.turns;
    let middle = i64::try_from(turns.div_ceil(2));
    middle.map(Selector::Turn).map_err(|_| Error::Wrong(format!("{turns} turns")))
}

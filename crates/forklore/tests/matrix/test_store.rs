//! The stores that the matrix runs over.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use forklore::core::SessionId;
use forklore::engine::{Clock, Engine};
use jiff::Timestamp;

/// The kinds of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Memory,
    Sqlite,
    Files,
    #[cfg(feature = "graph")]
    Graph,
}

impl Kind {
    pub(crate) const ALL: &[Self] = &[
        Self::Memory,
        Self::Sqlite,
        Self::Files,
        #[cfg(feature = "graph")]
        Self::Graph,
    ];

    fn url(self, folder: &Path) -> String {
        match self {
            Self::Memory => "memory:".to_owned(),
            Self::Sqlite => format!("sqlite:{}", folder.join("store.db").display()),
            Self::Files => format!("files:{}", folder.join("store").display()),
            #[cfg(feature = "graph")]
            Self::Graph => format!("graph:{}", folder.join("store").display()),
        }
    }
}

/// A clock that stands still. A counter replaces its random bits, so that ids are the same in every
/// store.
#[derive(Default)]
struct TestClock(AtomicU64);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_760_000_000).unwrap()
    }

    fn random(&self) -> [u8; 10] {
        let mut random = [0; 10];
        random[2..].copy_from_slice(&self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        random
    }
}

/// A store that no other cell uses.
pub(crate) struct TestStore {
    pub(crate) kind: Kind,
    pub(crate) engine: Engine,
    clock: Arc<TestClock>,
    folder: tempfile::TempDir,
}

impl TestStore {
    pub(crate) fn new(kind: Kind) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(TestClock::default());
        let engine = forklore::blocking::open(&kind.url(folder.path())).unwrap();
        let engine = engine.with_clock(clock.clone());
        Self { kind, engine, clock, folder }
    }

    /// Opens the store again, as another process would. A store in memory has only one handle.
    pub(crate) fn another_handle(&self) -> Engine {
        if self.kind == Kind::Memory {
            return self.engine.clone();
        }
        let engine = forklore::blocking::open(&self.kind.url(self.folder.path())).unwrap();
        engine.with_clock(self.clock.clone())
    }

    /// Opens an empty store in memory, with the same clock.
    pub(crate) fn empty(&self) -> Engine {
        forklore::blocking::open("memory:").unwrap().with_clock(self.clock.clone())
    }

    /// Removes a session from the disk, as damage or a person would. The rest of the store stays.
    pub(crate) fn vanish(&self, session: &SessionId) {
        if self.kind == Kind::Sqlite {
            let path = self.folder.path().join("store.db");
            let database = rusqlite::Connection::open(path).unwrap();
            let gone = database.execute("DELETE FROM session WHERE id = ?1", [session.as_str()]);
            assert_eq!(gone, Ok(1));
            return;
        }
        let name = format!("{session}.jsonl");
        let files = files_below(self.folder.path());
        let own: Vec<_> = files.iter().filter(|path| path.ends_with(&name)).collect();
        assert!(!own.is_empty(), "no {name} among {files:?}");
        own.into_iter().for_each(|path| std::fs::remove_file(path).unwrap());
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

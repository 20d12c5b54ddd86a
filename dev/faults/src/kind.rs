//! The kinds of stores under test, and how to open each kind.

use std::path::Path;
use std::sync::Arc;

use forklore::Engine;
use forklore_conformance::Handle;
use forklore_files::FilesStore;
use forklore_sqlite::SqliteStore;
use forklore_store::clock::StoreClock;
use forklore_store::{Result, Store};
use serde::{Deserialize, Serialize};

/// A kind of store that several processes share and that lasts after they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A store that is one SQLite file.
    Sqlite,
    /// A store that is a directory of JSONL files.
    Files,
}

/// An open store. Tests call the store either directly (through the trait `Store`) or through the
/// engine.
#[derive(Clone)]
pub struct Opened {
    /// Gives access to the store through the trait `Store`, and to its maintenance operations.
    pub handle: Handle,
    /// Gives access to the store through the engine. Used mainly for imports.
    pub engine: Engine,
}

impl Kind {
    /// Opens the store in the directory `dir` and creates it if it does not exist.
    ///
    /// # Errors
    /// The errors of the store.
    pub fn open(self, dir: &Path) -> Result<Opened> {
        self.open_at(dir, StoreClock::default())
    }

    /// Opens the store in the directory `dir` and creates it if it does not exist. The store uses
    /// `clock` as its clock.
    ///
    /// # Errors
    /// The errors of the store.
    pub fn open_at(self, dir: &Path, clock: StoreClock) -> Result<Opened> {
        match self {
            Self::Sqlite => {
                let store = SqliteStore::open(&dir.join("store.db"), Default::default())?;
                Ok(Opened::new(store.with_clock(clock)))
            }
            Self::Files => {
                let store = FilesStore::open(dir, Default::default())?;
                Ok(Opened::new(store.with_clock(clock)))
            }
        }
    }

    /// Returns the URL for opening the store in the directory `dir` with the library `forklore`.
    #[must_use]
    pub fn url(self, dir: &Path) -> String {
        match self {
            Self::Sqlite => format!("sqlite:{}", dir.join("store.db").display()),
            Self::Files => format!("files:{}", dir.display()),
        }
    }
}

impl Opened {
    fn new(store: impl Store + 'static) -> Self {
        let store: Arc<dyn Store> = Arc::new(store);
        let engine = Engine::new(store.clone());
        let engine = engine.with_agent_formats(forklore::formats::AGENT_FORMATS);
        Self { handle: Handle::shared(store), engine }
    }

    /// Returns the open store as the trait `Store`.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.handle.store
    }
}

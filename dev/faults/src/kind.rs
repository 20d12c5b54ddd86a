//! The stores that are put to the test, and how each is opened.

use std::path::Path;
use std::sync::Arc;

use forklore::Engine;
use forklore_conformance::Handle;
use forklore_files::FilesStore;
use forklore_sqlite::SqliteStore;
use forklore_store::{Result, Store};
use serde::{Deserialize, Serialize};

use crate::subject::Whole;

/// A store that several processes share and that outlives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// One SQLite file.
    Sqlite,
    /// A folder of JSONL files.
    Files,
}

/// An open store, as the port and as the engine sees it.
#[derive(Clone)]
pub struct Opened {
    /// For calls of the port and of maintenance.
    pub handle: Handle,
    /// For verbs, imports above all.
    pub engine: Engine,
    /// The store, whole.
    pub whole: Arc<dyn Whole>,
}

impl Kind {
    /// Opens the store in the folder `dir`, making it where there is none.
    ///
    /// # Errors
    /// Those of the store.
    pub fn open(self, dir: &Path) -> Result<Opened> {
        match self {
            Self::Sqlite => {
                let store = SqliteStore::open(&dir.join("store.db"), Default::default())?;
                Ok(Opened::new(store))
            }
            Self::Files => Ok(Opened::new(FilesStore::open(dir, Default::default())?)),
        }
    }

    /// The same through the library's own door, as a URL.
    #[must_use]
    pub fn url(self, dir: &Path) -> String {
        match self {
            Self::Sqlite => format!("sqlite:{}", dir.join("store.db").display()),
            Self::Files => format!("files:{}", dir.display()),
        }
    }
}

impl Opened {
    fn new<S: Whole + 'static>(store: S) -> Self {
        let store = Arc::new(store);
        let engine = Engine::over(store.clone()).with_attachments(store.kept());
        let engine = engine.with_agent_formats(forklore::formats::AGENT_FORMATS);
        Self {
            whole: store.clone(),
            handle: Handle { store: store.clone(), maintenance: Some(store), attachments: None },
            engine,
        }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.handle.store
    }
}

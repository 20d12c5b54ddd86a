//! A store that contains sessions in a journal and a graph of the sessions in memory.
//!
//! The journal is a files store and the only source of truth. It has the same records, checksums
//! and syncs as any files store, and repairs torn records in the same way. Every read of a
//! session's log reads the journal. The first query builds the graph from the journal. Every later
//! query first applies the changes since the query before, including those of other processes.

mod port;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use forklore_core::ErrorKind;
use forklore_core::agent_format::AgentFormat;
use forklore_engine::Engine;
use forklore_files::{FilesStore, Options};
use forklore_store::Result;
use forklore_store::attachments::Attachments;
use forklore_store::clock::StoreClock;
use forklore_store::disk::{self, Copied};
use forklore_store::health::Health;

use crate::graph::{Graph, LoadError};
use crate::live_graph::LiveGraph;
use crate::profile::{Profile, TRAILS_DEPTH};
use crate::query::{Answer, Query, QueryError};

/// The name of the journal: the directory with the sessions, inside a graph store's directory.
pub const JOURNAL: &str = "journal";

/// A session store in a directory that also answers SPARQL queries about its sessions.
pub struct GraphStore {
    journal: Arc<FilesStore>,
    reader: Engine,
    profile: Profile,
    live: Mutex<Option<LiveGraph>>,
}

/// Why a SPARQL query on a graph store was refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The graph could not be built or updated from the sessions.
    #[error(transparent)]
    Graph(#[from] LoadError),
    /// The query itself was refused or failed.
    #[error(transparent)]
    Query(#[from] QueryError),
}

impl AskError {
    /// Returns the kind of this error, as scripts see it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Graph(error) => error.kind(),
            Self::Query(error) => error.kind(),
        }
    }
}

impl GraphStore {
    /// Opens the graph store in the directory `path`. Creates the store with the requested profile,
    /// or [`Profile::Plain`], if it does not exist. `dialects` are the formats that convert the
    /// records of imported sessions to messages.
    ///
    /// # Errors
    /// `Unsupported` if the directory contains other files than a graph store, a store with another
    /// profile than the requested one, or a store of a newer version. `Denied` without permission,
    /// `Corrupt` if the store is damaged, `Locked` if another process locks it, and `Io` if reading
    /// or writing fails otherwise.
    pub fn open(
        path: &Path,
        profile: Option<Profile>,
        dialects: &'static [&'static dyn AgentFormat],
    ) -> Result<Self> {
        Self::open_with_clock(path, profile, dialects, StoreClock::default())
    }

    /// Opens a graph store like [`open`](Self::open), with this clock. For tests.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn open_with_clock(
        path: &Path,
        profile: Option<Profile>,
        dialects: &'static [&'static dyn AgentFormat],
        clock: StoreClock,
    ) -> Result<Self> {
        if !path.exists() {
            disk::make_folder(path)?;
        }
        let profile = Profile::settle(path, profile)?;
        let journal = FilesStore::open(&path.join(JOURNAL), Options::default())?;
        let journal = Arc::new(journal.with_clock(clock));
        let reader = Engine::new(journal.clone()).with_agent_formats(dialects);
        Ok(Self { journal, reader, profile, live: Mutex::default() })
    }

    /// Checks whether there is a store at `path`, or something else that [`GraphStore::open`]
    /// refuses. If there is neither, `open` creates a store there. Writes nothing.
    #[must_use]
    pub fn exists(path: &Path) -> bool {
        let there = path.symlink_metadata().is_ok();
        there
            && (!matches!(Profile::found(path), Ok(None))
                || FilesStore::exists(&path.join(JOURNAL)))
    }

    /// Diagnoses the graph store in the directory `path`, which need not exist. Creates, writes and
    /// repairs nothing.
    #[must_use]
    pub fn health(path: &Path) -> Health {
        let mut health = FilesStore::health(&path.join(JOURNAL));
        let found = if path.symlink_metadata().is_ok() { Profile::found(path) } else { Ok(None) };
        match found {
            Ok(Some(profile)) => health.ok("profile", profile.to_string()),
            Ok(None) => {}
            Err(error) => health.problem("profile", &error),
        }
        health
    }

    /// Copies the store in the directory `from`, whose journal is `journal`, to the new directory
    /// `to`, as [`FilesStore::copy_to`] does. Calls `observe` after each file.
    ///
    /// # Errors
    /// The errors of [`FilesStore::copy_to`], and those of reading and writing the profile.
    pub fn copy_to(
        from: &Path,
        journal: &FilesStore,
        to: &Path,
        observe: &mut dyn FnMut(Copied),
    ) -> Result<()> {
        disk::make_folder(to)?;
        Profile::settle(to, Profile::found(from)?)?;
        journal.copy_to(&to.join(JOURNAL), observe)
    }

    /// Returns the profile of the store: the rules that it applies to its sessions.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Returns the maximum depth of a fork in this store; `None` means no limit. A root has depth
    /// 0.
    #[must_use]
    pub fn max_fork_depth(&self) -> Option<u64> {
        (self.profile == Profile::Trails).then_some(TRAILS_DEPTH)
    }

    /// Returns the part of the store that contains attachments.
    #[must_use]
    pub fn attachments(&self) -> Arc<dyn Attachments> {
        self.journal.attachments()
    }

    /// Returns the graph of all sessions, after an update to their present state in the store.
    ///
    /// # Errors
    /// If the sessions cannot be read, or the graph cannot be updated.
    pub fn graph(&self) -> std::result::Result<Graph, LoadError> {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(live) = &mut *live {
            live.catch_up(&self.reader)?;
            return Ok(live.graph.clone());
        }
        let made = LiveGraph::of(&self.reader)?;
        Ok(live.insert(made).graph.clone())
    }

    /// Answers a SPARQL query about all sessions, after an update of the graph to their present
    /// state in the store.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn ask(&self, query: &Query<'_>) -> std::result::Result<Answer, AskError> {
        query.check()?;
        Ok(self.graph()?.answer(query)?)
    }
}

impl std::fmt::Debug for GraphStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GraphStore").field("profile", &self.profile).finish_non_exhaustive()
    }
}

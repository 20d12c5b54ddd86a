//! The graph store: sessions in a journal, and their graph standing in memory.
//!
//! The journal is a files store: its records, checksums, torn tails and syncs are the one truth,
//! and every read of a session's log comes from there. The graph is made of it when somebody first
//! asks, and brought up to date before every further question, also with what other processes
//! wrote.

mod port;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use forklore_core::ErrorKind;
use forklore_core::agent_format::AgentFormat;
use forklore_engine::Engine;
use forklore_files::{FilesStore, Options};
use forklore_store::attachments::Attachments;
use forklore_store::health::Health;
use forklore_store::{Result, disk};

use crate::graph::{Graph, LoadError};
use crate::live_graph::LiveGraph;
use crate::profile::{Profile, TRAILS_DEPTH};
use crate::query::{Answer, Query, QueryError};

/// The folder of the journal in that of the store.
pub const JOURNAL: &str = "journal";

/// Keeps sessions in a folder, and answers SPARQL about them.
pub struct GraphStore {
    journal: Arc<FilesStore>,
    reader: Engine,
    profile: Profile,
    live: Mutex<Option<LiveGraph>>,
}

/// Why a question was not answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The graph could not be brought up to date.
    #[error(transparent)]
    Graph(#[from] LoadError),
    /// The query was refused, or failed.
    #[error(transparent)]
    Query(#[from] QueryError),
}

impl AskError {
    /// The kind that scripts see.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Graph(error) => error.kind(),
            Self::Query(error) => error.kind(),
        }
    }
}

impl GraphStore {
    /// Opens the store in the folder at `path`, and makes it where there is none, with the profile
    /// asked for. `dialects` read the records of agents.
    ///
    /// # Errors
    /// `Unsupported` when the folder holds something else, or was made with another profile;
    /// `Denied`, `Corrupt`, `Io`, `Locked`.
    pub fn open(
        path: &Path,
        profile: Option<Profile>,
        dialects: &'static [&'static dyn AgentFormat],
    ) -> Result<Self> {
        if !path.exists() {
            disk::make_folder(path)?;
        }
        let profile = Profile::settle(path, profile)?;
        let journal = Arc::new(FilesStore::open(&path.join(JOURNAL), Options::default())?);
        let reader = Engine::new(journal.clone()).with_agent_formats(dialects);
        Ok(Self { journal, reader, profile, live: Mutex::default() })
    }

    /// What is to be said about the store in the folder at `path`, which need not be there.
    /// Nothing is made, written or repaired.
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

    /// The rules that its sessions are held to.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// How deep its families may be; none without a limit.
    #[must_use]
    pub fn max_fork_depth(&self) -> Option<u64> {
        (self.profile == Profile::Trails).then_some(TRAILS_DEPTH)
    }

    /// Its attachments.
    #[must_use]
    pub fn attachments(&self) -> Arc<dyn Attachments> {
        self.journal.attachments()
    }

    /// The graph as it is now.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn graph(&self) -> std::result::Result<Graph, LoadError> {
        let mut standing = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(standing) = &mut *standing {
            standing.catch_up(&self.reader)?;
            return Ok(standing.graph.clone());
        }
        let made = LiveGraph::of(&self.reader)?;
        Ok(standing.insert(made).graph.clone())
    }

    /// Answers a query over all sessions.
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

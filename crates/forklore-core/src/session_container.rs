//! Files that contain many sessions at once, such as databases. Each session is read as if it were
//! a file of lines (docs/semantics.md, Sources).

use std::io::{BufRead, Write};
use std::path::Path;

use jiff::Timestamp;

/// Finds the sessions in files of one agent.
pub trait SessionContainer: Send + Sync {
    /// Returns the name of the agent format of the lines.
    fn dialect(&self) -> &'static str;

    /// Checks by the path alone whether a file in a folder may contain sessions.
    fn may_own(&self, path: &Path) -> bool;

    /// Checks whether a file with this path and first bytes should be opened.
    fn detect(&self, path: &Path, head: &[u8]) -> bool;

    /// Opens a snapshot of the file; later changes to it are not visible.
    ///
    /// # Errors
    /// If the file cannot be read, or is of an unknown kind.
    fn open(&self, path: &Path) -> Result<Box<dyn Inside>, ExpandError>;
}

/// The sessions in an open file.
pub trait Inside {
    /// Returns all sessions.
    ///
    /// # Errors
    /// If they cannot be read.
    fn sessions(&mut self) -> Result<Vec<Found>, ExpandError>;

    /// Writes the lines of a session that are not among the `earlier` lines, which earlier calls
    /// wrote. Returns the problems found in the session.
    ///
    /// # Errors
    /// If the lines cannot be read or written.
    fn lines(
        &mut self,
        id: &str,
        earlier: &mut dyn BufRead,
        out: &mut dyn Write,
    ) -> Result<Vec<Trouble>, ExpandError>;
}

/// A problem with a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Part of the session has not been written yet.
    Unfinished(String),
    /// Part of the session belongs to nothing else in it.
    Damage(String),
}

/// A session found in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The agent's id of the session.
    pub id: String,
    /// The session that called it as a sub-agent.
    pub caller: Option<String>,
    /// When it was created.
    pub created: Option<Timestamp>,
    /// A number that changes whenever anything about the session changes.
    pub state: i64,
}

/// Why the sessions of a file were not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExpandError {
    /// The file is damaged, in use, or gone.
    #[error("{what}")]
    Unreadable {
        /// What is wrong, in words.
        what: String,
        /// The error that caused it, if any.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The file has a format or version that this program cannot read.
    #[error("{0}")]
    UnknownVersion(String),
    /// A file could not be read or written.
    #[error("{doing}: {source}")]
    Io {
        /// The operation that failed.
        doing: String,
        /// Why it failed.
        source: std::io::Error,
    },
}

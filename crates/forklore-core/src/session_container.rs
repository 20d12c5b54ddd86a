//! Files that hold many sessions at once, as databases do: each session is read as if it were a
//! file of lines (SPEC 11).

use std::io::{BufRead, Write};
use std::path::Path;

use jiff::Timestamp;

/// Finds the sessions in files of one agent.
pub trait SessionContainer: Send + Sync {
    /// The name of the dialect that the lines are in.
    fn dialect(&self) -> &'static str;

    /// Whether a file in a folder may hold sessions, by its path alone.
    fn may_own(&self, path: &Path) -> bool;

    /// Whether a file with this path and beginning is one to be opened.
    fn detect(&self, path: &Path, head: &[u8]) -> bool;

    /// Opens what is in the file now; what happens to it later is not seen.
    ///
    /// # Errors
    /// When it cannot be read, or is of a kind that is not known.
    fn open(&self, path: &Path) -> Result<Box<dyn Inside>, ExpandError>;
}

/// The sessions in a file.
pub trait Inside {
    /// All of them.
    ///
    /// # Errors
    /// When they cannot be read.
    fn sessions(&mut self) -> Result<Vec<Found>, ExpandError>;

    /// Writes the lines of a session that are not among those that are `known`, and says what is
    /// wrong with it. The lines known are what earlier calls wrote.
    ///
    /// # Errors
    /// When they cannot be read, or not be written.
    fn lines(
        &mut self,
        id: &str,
        earlier: &mut dyn BufRead,
        out: &mut dyn Write,
    ) -> Result<Vec<Trouble>, ExpandError>;
}

/// What is wrong with a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Something of it is not there yet.
    Unfinished(String),
    /// Something of it belongs to nothing.
    Damage(String),
}

/// A session in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The agent's id for it.
    pub id: String,
    /// The session that called it.
    pub caller: Option<String>,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// A number that is another one when anything about the session is.
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
        /// What says so, where that is another error.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// It is not what this version knows how to read.
    #[error("{0}")]
    UnknownVersion(String),
    /// A file could not be read or written.
    #[error("{doing}: {source}")]
    Io {
        /// What was done.
        doing: String,
        /// Why it failed.
        source: std::io::Error,
    },
}

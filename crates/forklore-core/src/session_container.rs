//! The interface that reads files with many sessions, such as databases. It converts each session
//! to lines, as if the session had a session file of its own (docs/semantics.md, Sources).

use std::io::{BufRead, Write};
use std::path::Path;

use jiff::Timestamp;

/// Reads files of one agent that each contain many sessions, such as databases.
pub trait SessionContainer: Send + Sync {
    /// Returns the name of the agent format that parses the lines which [`Inside::lines`] writes.
    fn dialect(&self) -> &'static str;

    /// Checks by the path alone whether a file in a folder may contain sessions of the agent.
    fn may_own(&self, path: &Path) -> bool;

    /// Checks whether a file with this path and these first bytes looks like a file with sessions
    /// of the agent. `head` is those first bytes. [`open`](Self::open) may still refuse the file.
    fn detect(&self, path: &Path, head: &[u8]) -> bool;

    /// Opens the file at `path` as a snapshot, in which later changes of the file are not visible.
    ///
    /// # Errors
    /// If the file cannot be read, or is of an unknown kind.
    fn open(&self, path: &Path) -> Result<Box<dyn Inside>, ExpandError>;
}

/// An open snapshot of a file that contains many sessions.
pub trait Inside {
    /// Returns all sessions of the file.
    ///
    /// # Errors
    /// If the sessions cannot be read.
    fn sessions(&mut self) -> Result<Vec<Found>, ExpandError>;

    /// Returns the session `id`, if the file has it, and the sessions that it called as sub-agents,
    /// directly or through others. An implementation reads less than for all sessions.
    ///
    /// # Errors
    /// If the sessions cannot be read.
    fn family(&mut self, id: &str) -> Result<Vec<Found>, ExpandError> {
        let all = self.sessions()?;
        let mut family = vec![id.to_owned()];
        let mut at = 0;
        while let Some(caller) = family.get(at).cloned() {
            at += 1;
            let called = all.iter().filter(|found| found.caller.as_deref() == Some(&*caller));
            let called: Vec<_> = called.map(|found| found.id.clone()).collect();
            family.extend(called.into_iter().filter(|id| !family.contains(id)).collect::<Vec<_>>());
        }
        Ok(all.into_iter().filter(|found| family.contains(&found.id)).collect())
    }

    /// Converts the session `id` to lines, and writes to `out` those that `earlier` does not
    /// contain. `earlier` has the lines that earlier calls wrote for this session. Returns the
    /// problems found in the session.
    ///
    /// # Errors
    /// If the session or `earlier` cannot be read, or if `out` cannot be written.
    fn lines(
        &mut self,
        id: &str,
        earlier: &mut dyn BufRead,
        out: &mut dyn Write,
    ) -> Result<Vec<Trouble>, ExpandError>;
}

/// A problem found in one session of a file that contains many sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The agent has not finished writing a part of the session. The string describes that part.
    Unfinished(String),
    /// A part of the session is not connected to the rest of the session. The string describes that
    /// part.
    Damage(String),
}

/// A session that was found in a file with many sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The id that the agent gave the session.
    pub id: String,
    /// The id (given by the agent) of the session that called this session as a sub-agent, if any
    /// did.
    pub caller: Option<String>,
    /// When the session was created, if the agent recorded it.
    pub created: Option<Timestamp>,
    /// A number that changes whenever anything in the session changes. An unchanged number means
    /// that the session need not be read again.
    pub state: i64,
}

/// Why the sessions of a file were not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExpandError {
    /// The file is damaged, in use or deleted.
    #[error("{what}")]
    Unreadable {
        /// A description of the failure, as text for people.
        what: String,
        /// The underlying error, if any.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The file has a format or version that this program cannot read.
    #[error("{0}")]
    UnknownVersion(String),
    /// A file could not be read or written.
    #[error("{doing}: {source}")]
    Io {
        /// The operation that failed, as text for people.
        doing: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

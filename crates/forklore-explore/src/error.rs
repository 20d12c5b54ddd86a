//! What stops an exploration.

use std::io;
use std::path::PathBuf;

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why an exploration or one of its attempts failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store, or the session.
    #[error(transparent)]
    Engine(#[from] forklore_engine::Error),
    /// The states of files, or a worktree.
    #[error(transparent)]
    Files(#[from] forklore_workspace::Error),
    /// The label or the judge.
    #[error(transparent)]
    Host(#[from] forklore_host::Error),
    /// The session file of the agent could not be written.
    #[error("{0}")]
    SessionFile(String),
    /// The session file that was written could not be read again.
    #[error("no session was read from {}", path.display())]
    NoSession {
        /// The file.
        path: PathBuf,
    },
    /// opencode did not name its database.
    #[error(
        "opencode names no database that can be opened, but {printed:?}: {source}; check what `opencode db path` prints"
    )]
    NoDatabase {
        /// What it printed.
        printed: String,
        /// Why that is no database.
        source: io::Error,
    },
    /// It is not clear which model opencode would use.
    #[error("opencode has no model for this session; name one with --models PROVIDER/MODEL")]
    NoModel,
    /// There is no such program.
    #[error("there is no program {program}; install it, or put its folder into PATH")]
    NoProgram {
        /// The program.
        program: String,
    },
    /// The agent's program could not be started.
    #[error("{program} does not start: {source}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// The folder of the attempt is gone, or something else is in its place.
    #[error("{} is no folder any more: the agent removed it or put something else there", path.display())]
    NoFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The agent ended with a failure.
    #[error("{program} ended with {status}{}", last.as_ref().map(|last| format!(": {last}")).unwrap_or_default())]
    Ended {
        /// The program.
        program: String,
        /// How it ended.
        status: std::process::ExitStatus,
        /// The last line of its errors.
        last: Option<String>,
    },
    /// The agent took too long.
    #[error("{program} was stopped after {seconds} s")]
    TooLong {
        /// The program.
        program: String,
        /// The time that it had.
        seconds: u64,
    },
    /// The exploration was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// A task of this program panicked.
    #[error("a task of the exploration panicked")]
    Panicked,
}

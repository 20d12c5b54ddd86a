//! Types of `import --watch`, which prints one line for each change.

use std::path::PathBuf;

use forklore_core::{ErrorKind, SessionId};
use serde::{Deserialize, Serialize};

use crate::ImportProblem;

/// A line of `import --watch`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum WatchLine {
    /// The watch began.
    Watching {
        /// The watched files and folders that exist.
        #[serde(rename = "places")]
        paths: Vec<PathBuf>,
    },
    /// A session file was imported.
    Imported {
        /// The path of the file.
        path: String,
        /// The dialect of the file's records.
        dialect: String,
        /// How the file changed.
        change: FileChange,
        /// The number of bytes read.
        bytes: u64,
        /// The number of events that this import added.
        events: u64,
        /// The sessions to which events were added. If no event was added, all sessions of the
        /// file.
        sessions: Vec<SessionId>,
    },
    /// A sidecar file was stored.
    #[serde(rename = "kept")]
    Sidecar {
        /// The path of the file.
        path: String,
        /// The dialect of the agent that wrote the file.
        dialect: String,
        /// The number of bytes read.
        bytes: u64,
        /// The first session of the session file that the sidecar belongs to.
        session: SessionId,
    },
    /// A file was deleted.
    Gone {
        /// The path of the file.
        path: PathBuf,
        /// The sessions that were imported from the file. They remain in the store.
        #[serde(rename = "kept")]
        stored: Vec<SessionId>,
    },
    /// A file or a line has a problem.
    Problem(ImportProblem),
    /// An import failed. The watch tries it again.
    Refused {
        /// The error kind.
        kind: ErrorKind,
        /// A description of the error, in one sentence.
        message: String,
    },
    /// The watch ended.
    Stopped {
        /// The number of file changes that were imported.
        files: u64,
        /// The number of events that were added.
        events: u64,
    },
}

/// How an imported file changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    /// The file was not imported before.
    New,
    /// Records were appended to the file.
    Grown,
    /// The file no longer begins with the bytes that an earlier import read.
    Rewritten,
}

impl FileChange {
    /// Returns the change as it is written in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Grown => "grown",
            Self::Rewritten => "rewritten",
        }
    }
}

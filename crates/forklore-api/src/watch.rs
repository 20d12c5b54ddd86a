//! Types of `import --watch`, which prints one line for each change.

use std::path::PathBuf;

use forklore_core::{ErrorKind, SessionId};
use serde::{Deserialize, Serialize};

use crate::ImportProblem;

/// One line of the output of `import --watch`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum WatchLine {
    /// The program began to watch files and folders.
    Watching {
        /// The watched files and folders that exist.
        #[serde(rename = "places")]
        paths: Vec<PathBuf>,
    },
    /// A new or changed session file was imported.
    Imported {
        /// The path of the imported file.
        path: String,
        /// The dialect (name of an agent's record format) of the file's records.
        dialect: String,
        /// How the file changed since the last import.
        change: FileChange,
        /// The number of bytes of the file that this import read.
        bytes: u64,
        /// The number of events that this import added to the store.
        events: u64,
        /// The sessions to which this import added events. If the import added no events: all
        /// sessions of the file.
        sessions: Vec<SessionId>,
    },
    /// A sidecar file (a file without a session that an agent stores next to a session file) was
    /// stored.
    #[serde(rename = "kept")]
    Sidecar {
        /// The path of the sidecar file.
        path: String,
        /// The dialect (name of the record format) of the agent that wrote the sidecar file.
        dialect: String,
        /// The number of bytes of the file that this import read.
        bytes: u64,
        /// The session to which the sidecar file belongs: the first one in the session file next to
        /// it.
        session: SessionId,
    },
    /// The files of a session's folder were recorded, because its agent had written (`--files`).
    Snapshot {
        /// The session.
        session_id: SessionId,
        /// The folder.
        folder: PathBuf,
        /// The id of the snapshot.
        snapshot: String,
        /// The number of files in the snapshot.
        files: u64,
        /// The size of these files in bytes.
        bytes: u64,
    },
    /// A file from which sessions were imported was deleted.
    Gone {
        /// The path of the deleted file.
        path: PathBuf,
        /// The sessions that were imported from the file. They remain in the store.
        #[serde(rename = "kept")]
        stored: Vec<SessionId>,
    },
    /// An import found a problem in a file or in a line of a file.
    Problem(ImportProblem),
    /// An import failed. The program will try it again.
    Refused {
        /// The kind of the error that stopped the import.
        kind: ErrorKind,
        /// A description of the error that stopped the import, in one sentence.
        message: String,
    },
    /// The program stopped watching. This is the last line.
    Stopped {
        /// The number of file changes that were imported while the program watched.
        files: u64,
        /// The number of events that were added to the store while the program watched.
        events: u64,
    },
}

/// How a session file changed since the last import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    /// The file was not imported before.
    New,
    /// Records were added at the end of the file.
    Grown,
    /// The file no longer begins with the bytes that an earlier import read.
    Rewritten,
}

impl FileChange {
    /// Returns the kind of change as its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Grown => "grown",
            Self::Rewritten => "rewritten",
        }
    }
}

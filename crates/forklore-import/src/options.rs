//! The options of an import.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forklore_api::Import;
use forklore_core::workspace::Workspace;
use forklore_core::{Selector, SessionId};

/// Maximum number of attempts to import one file. The import tries again if another writer changed
/// the store meanwhile, or if an id or label that the import generated is in use.
pub(crate) const ATTEMPTS: usize = 20;

/// The part of a session from which forklore wrote a session file (`resume-in`). The records that
/// the file has are that part in the agent's form, so they become no events: the file's session is a
/// branch that begins at the cut. What the agent writes later becomes events of the branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenFrom {
    /// The session.
    pub session: SessionId,
    /// The cut up to which the file has the session.
    pub at: Selector,
    /// The folder in which the agent goes on. Records that are copied into the file name the folder
    /// of the session.
    pub workspace: Workspace,
}

/// A session that an agent is about to store in a file with many sessions, such as a database,
/// because forklore wrote a document that the agent imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwaitedSession {
    /// The path of the file with many sessions.
    pub container: PathBuf,
    /// The id that the agent gives the session.
    pub id: String,
    /// A line about the session in the agent's form, without records. It has no line feed.
    pub line: String,
    /// The ids of the first and last record that the document has, in the order of the ids. Records
    /// with these ids and those between them are the history in the agent's form, so they become no
    /// events. `None` if the document has no records.
    pub records: Option<RangeInclusive<String>>,
}

/// Options of an import: the fields of the request [`Import`], and options that a request cannot
/// contain.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The name of the agent format whose files are imported; `None` imports files of every format.
    pub from: Option<String>,
    /// The workspace of sessions whose file names no directory.
    pub workspace: Workspace,
    /// Whether to import sessions again after they were deleted from the store. They get new ids.
    pub again: bool,
    /// Whether a search found the given paths; `false` if a person named them. If a search found
    /// them, a file without sessions is not reported as a problem.
    pub found: bool,
    /// The session from which forklore wrote the imported file, in the first import of that file.
    /// The import must have no other file.
    pub written_from: Option<WrittenFrom>,
    /// The agent's id of the only session that is imported of a file with many sessions, together with
    /// the sessions that it called as sub-agents. `None` imports all sessions of such files.
    pub only: Option<String>,
    /// Stops the import when it becomes `true`. The store retains everything written before, and
    /// the next import continues from there.
    pub stop: Arc<AtomicBool>,
}

impl ImportOptions {
    /// Creates options that import files of every agent format, and do not import deleted sessions
    /// again.
    #[must_use]
    pub fn in_workspace(workspace: Workspace) -> Self {
        Self {
            from: None,
            workspace,
            again: false,
            found: false,
            written_from: None,
            only: None,
            stop: Arc::default(),
        }
    }

    /// Creates the options from the fields of an import request.
    #[must_use]
    pub fn of(request: &Import) -> Self {
        let (from, again) = (request.dialect.clone(), request.again);
        Self { from, again, ..Self::in_workspace(request.workspace.clone()) }
    }

    /// Checks whether the caller has stopped the import.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_decides_dialect_workspace_and_deleted_sessions() {
        let workspace = Workspace::new("/demo");
        let request = Import {
            dialect: Some("pi".into()),
            again: true,
            ..Import::of(Vec::new(), workspace.clone())
        };
        let options = ImportOptions::of(&request);
        assert_eq!(
            (options.from, options.workspace, options.again, options.found),
            (Some("pi".into()), workspace, true, false)
        );
    }
}

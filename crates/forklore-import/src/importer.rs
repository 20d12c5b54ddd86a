//! The entry point of an import.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forklore_core::SessionId;
use forklore_core::operation::OperationKind;
use forklore_core::workspace::Workspace;
use forklore_engine::{Engine, Error, Result};

use crate::candidate::Candidate;
use crate::contained::ContainedSession;
use crate::discovery;
use crate::options::{AwaitedSession, ImportOptions, WrittenFrom};
use crate::progress::Progressed;
use crate::report::ImportReport;
use crate::run::Run;
use crate::write_behind::WriteBehind;

/// Imports the session files of agents into the store of an engine.
#[derive(Clone, Copy)]
pub struct Importer<'e> {
    pub(crate) engine: &'e Engine,
}

impl<'e> Importer<'e> {
    /// Creates an importer for the store of `engine`. It supports the same agent formats and
    /// container files (files with several sessions) as the engine.
    #[must_use]
    pub fn new(engine: &'e Engine) -> Self {
        Self { engine }
    }

    /// Imports the given session files, and the session files in the given folders, oldest first.
    /// Then imports their sidecar files, which agents store next to session files. A file that was
    /// imported before is read from the byte where that import stopped. A problem in one file does
    /// not stop the import of the others (docs/semantics.md, Sources). The report names the given
    /// paths that gave no session ([`ImportReport::failed`]).
    ///
    /// # Errors
    /// `unsupported` if the store does not support sources, `invalid_args` if the options name an
    /// unknown agent format, and failures of the store. Problems of a file are in the report. If
    /// the import has a single file and refuses it, the reason is returned as an error instead.
    pub fn import(
        &self,
        paths: &[PathBuf],
        options: &ImportOptions,
        progress: &mut dyn FnMut(Progressed<'_>),
    ) -> Result<ImportReport> {
        self.with_store(options, |run, behind| run.import(behind, paths, progress))
    }

    /// Runs an import. Its steps are stored at the end, or while it works.
    fn with_store(
        &self,
        options: &ImportOptions,
        import: impl FnOnce(&Run<'_>, &WriteBehind) -> Result<ImportReport>,
    ) -> Result<ImportReport> {
        self.engine.sources()?;
        let behind = Arc::new(WriteBehind::over(
            self.engine.shared_store(),
            self.engine.new_operation(OperationKind::Import),
        ));
        let engine = self.engine.on_store(behind.clone());
        let done = import(&Run::new(&engine, options), &behind);
        // The steps are also written after an error, so that the next import need not read them
        // again.
        let ended = behind.end();
        let report = done?;
        ended?;
        Ok(report)
    }

    /// Imports a session file that forklore wrote for `agent` and that the agent has not changed yet,
    /// as a branch of the session from which it was written (docs/semantics.md, Files that forklore
    /// wrote). Returns the branch, or `None` if the file has no session.
    ///
    /// # Errors
    /// The errors of [`import`](Self::import).
    pub fn import_written(
        &self,
        agent: &str,
        path: &Path,
        from: WrittenFrom,
    ) -> Result<Option<SessionId>> {
        let workspace = Workspace::new(&path.parent().unwrap_or(path).to_string_lossy());
        let options = ImportOptions {
            from: Some(agent.to_owned()),
            written_from: Some(from),
            ..ImportOptions::in_workspace(workspace)
        };
        let report = self.import(&[path.to_owned()], &options, &mut |_| {})?;
        Ok(report.sessions.into_iter().next().map(|session| session.session_id))
    }

    /// Begins the branch of a session that `agent` is about to store from a document that forklore
    /// wrote (docs/semantics.md, Files that forklore wrote). The records of the document become no
    /// events when they are imported later, by any import. Returns the branch.
    ///
    /// # Errors
    /// The errors of [`import`](Self::import), and `invalid_args` if the line has no session.
    pub fn begin_awaited(
        &self,
        agent: &str,
        session: &AwaitedSession,
        from: WrittenFrom,
    ) -> Result<SessionId> {
        let options = ImportOptions {
            from: Some(agent.to_owned()),
            ..ImportOptions::in_workspace(from.workspace.clone())
        };
        let options = ImportOptions { written_from: Some(from), ..options };
        let dialect = discovery::format_named(self.engine, agent)?;
        let (path, contained) = ContainedSession::awaited(session);
        let candidate = Candidate::contained(path, dialect, contained);
        let report = self.with_store(&options, |run, behind| run.begin(behind, &candidate))?;
        let begun = report.sessions.into_iter().next().map(|begun| begun.session_id);
        begun.ok_or_else(|| Error::invalid("source", "the line names no session of the agent"))
    }

    /// Imports one session of a file with many sessions, and the sessions that it called as
    /// sub-agents. The others are not read.
    ///
    /// # Errors
    /// The errors of [`import`](Self::import).
    pub fn import_only(&self, agent: &str, container: &Path, id: &str) -> Result<ImportReport> {
        let workspace = container.parent().unwrap_or(container).to_string_lossy();
        let options = ImportOptions {
            from: Some(agent.to_owned()),
            only: Some(id.to_owned()),
            ..ImportOptions::in_workspace(Workspace::new(&workspace))
        };
        self.import(&[container.to_owned()], &options, &mut |_| {})
    }
}

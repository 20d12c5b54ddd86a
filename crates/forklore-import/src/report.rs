//! The result of an import.

use std::path::Path;

use forklore_api::Imported;
pub use forklore_api::{
    ImportProblem as Problem, ImportProblemKind as ProblemKind, ImportedSession, SidecarTotals,
};
use forklore_core::{Header, SessionId};
use forklore_engine::Error;
use forklore_engine::sources::path_text;
use forklore_sanitize::terminal;

use crate::file_session::FileSession;

/// The result of an import: what [`Imported`] reports, and the files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportReport {
    /// Number of files with sessions.
    pub files: u64,
    /// Their sessions, grouped by file.
    pub sessions: Vec<ImportedSession>,
    /// Number of those files that have not changed since the last import.
    pub unchanged: u64,
    /// Number of files from which no session was imported.
    pub skipped: u64,
    /// Sidecar files: files without a session that agents store next to session files.
    pub sidecars: SidecarTotals,
    /// Problems of files and lines. No data was lost because of them.
    pub problems: Vec<Problem>,
    /// The imported files with their sessions.
    pub sources: Vec<ImportedFile>,
    /// The sidecar files.
    pub stored: Vec<StoredSidecar>,
}

/// A sidecar file that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSidecar {
    /// The file's path, with symbolic links resolved.
    pub path: String,
    /// The dialect of its agent.
    pub dialect: String,
    /// The first session of the file to which it belongs.
    pub session: SessionId,
    /// Number of bytes read by this import.
    pub bytes: u64,
    /// Whether it has not changed since the last import.
    pub unchanged: bool,
}

/// A file that was imported now or before.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedFile {
    /// The file's path, with symbolic links resolved.
    pub path: String,
    /// Its first session.
    pub first: Option<SessionId>,
    /// The session that the agent would resume.
    pub leaf: Option<SessionId>,
    /// All of its sessions that were not deleted, in the order in which they begin.
    pub sessions: Vec<SessionId>,
    /// Number of bytes read by this import.
    pub bytes: u64,
    /// Whether it was imported only because another file continues it.
    pub brought: bool,
}

impl ImportReport {
    /// Returns the answer of `import`: the report without the files.
    #[must_use]
    pub fn answer(&self) -> Imported {
        Imported {
            files: self.files,
            sessions: self.sessions.clone(),
            unchanged: self.unchanged,
            skipped: self.skipped,
            sidecars: self.sidecars,
            problems: self.problems.clone(),
        }
    }

    /// Returns the first file that was named, or found in a folder that was named.
    #[must_use]
    pub fn first_named(&self) -> Option<&ImportedFile> {
        self.sources.iter().find(|file| !file.brought)
    }
}

impl ImportedFile {
    /// Returns the session to which a reference to the file resolves (its leaf, or else the first),
    /// and the others.
    #[must_use]
    pub fn meant(&self) -> Option<(&SessionId, Vec<&SessionId>)> {
        let meant = self.leaf.as_ref().filter(|leaf| self.sessions.contains(leaf));
        let meant = meant.or_else(|| self.sessions.first())?;
        Some((meant, self.sessions.iter().filter(|session| *session != meant).collect()))
    }
}

/// Describes a session of an imported file.
pub(crate) trait OfSession {
    /// Describes a session whose records have this dialect.
    fn of(dialect: &str, session: &FileSession, header: Header) -> Self;
}

impl OfSession for ImportedSession {
    fn of(dialect: &str, session: &FileSession, header: Header) -> Self {
        Self {
            session_id: header.id.clone(),
            dialect: dialect.to_owned(),
            events: session.events.saturating_sub(u64::from(header.parent_id.is_some())),
            appended: session.appended,
            shared_bytes: header.shared_bytes(),
            parent_session_id: header.parent_id,
            cut: header.cut,
        }
    }
}

impl ImportReport {
    /// Adds a sidecar file.
    pub(crate) fn add_sidecar(&mut self, file: StoredSidecar) {
        self.sidecars.files += 1;
        self.sidecars.unchanged += u64::from(file.unchanged);
        self.sidecars.bytes += file.bytes;
        self.stored.push(file);
    }

    /// Adds a file that the store refused.
    pub(crate) fn refused(&mut self, path: &Path, error: &Error) {
        self.skipped += 1;
        let problem = Problem::of_file(path, ProblemKind::Refused, error.to_string());
        let (path, cause) = (terminal::line(&problem.path), error.kind().name());
        tracing::warn!(%path, cause, "a file was refused");
        self.problems.push(problem);
    }
}

/// Describes a problem of a whole file.
pub(crate) trait OfFile {
    /// Describes a problem of the file at `path`.
    fn of_file(path: &Path, kind: ProblemKind, message: String) -> Self;
}

impl OfFile for Problem {
    fn of_file(path: &Path, kind: ProblemKind, message: String) -> Self {
        let path = path_text(path);
        Self { path, line: None, offset: None, kind, message }
    }
}

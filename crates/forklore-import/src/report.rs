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

/// The result of an import: the fields of [`Imported`], and the imported files and sidecar files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportReport {
    /// Number of files from which sessions were imported now or before.
    pub files: u64,
    /// The sessions of these files, grouped by file.
    pub sessions: Vec<ImportedSession>,
    /// Number of files in `files` that have not changed since the last import.
    pub unchanged: u64,
    /// Number of files from which no session was imported.
    pub skipped: u64,
    /// Counts of the sidecar files: files without a session that agents store next to session
    /// files.
    pub sidecars: SidecarTotals,
    /// Problems of files and lines. No problem means that data was lost.
    pub problems: Vec<Problem>,
    /// The imported files, with the ids of their sessions.
    pub sources: Vec<ImportedFile>,
    /// The sidecar files that the store contains.
    pub stored: Vec<StoredSidecar>,
}

/// A sidecar file that was stored now or before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSidecar {
    /// The file's path, with symbolic links resolved.
    pub path: String,
    /// The dialect of the agent that wrote the file.
    pub dialect: String,
    /// The first session of the session file to which the sidecar file belongs.
    pub session: SessionId,
    /// Number of bytes read by this import.
    pub bytes: u64,
    /// Whether the file has not changed since the last import.
    pub unchanged: bool,
}

/// A file that was imported now or before.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedFile {
    /// The file's path, with symbolic links resolved.
    pub path: String,
    /// The file's first session, even if it was deleted; `None` if all sessions of the file were
    /// deleted.
    pub first: Option<SessionId>,
    /// The session that the agent would resume from this file.
    pub leaf: Option<SessionId>,
    /// The file's sessions that were not deleted, in the order in which they begin.
    pub sessions: Vec<SessionId>,
    /// Number of bytes read by this import.
    pub bytes: u64,
    /// Whether the file was imported only because another file continues it.
    pub brought: bool,
}

impl ImportReport {
    /// Returns the public result of an import, which lacks the lists of files and sidecar files.
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

    /// Returns the first file that the caller named, or that was found in a folder that the caller
    /// named.
    #[must_use]
    pub fn first_named(&self) -> Option<&ImportedFile> {
        self.sources.iter().find(|file| !file.brought)
    }
}

impl ImportedFile {
    /// Returns the session to which a reference to the file resolves, and the file's other
    /// sessions. A reference resolves to the leaf, or else to the first session that was not
    /// deleted. Returns `None` if all sessions were deleted.
    #[must_use]
    pub fn meant(&self) -> Option<(&SessionId, Vec<&SessionId>)> {
        let meant = self.leaf.as_ref().filter(|leaf| self.sessions.contains(leaf));
        let meant = meant.or_else(|| self.sessions.first())?;
        Some((meant, self.sessions.iter().filter(|session| *session != meant).collect()))
    }
}

/// Converts a session of an imported file for the report.
pub(crate) trait OfSession {
    /// Converts a session whose records have this dialect.
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
    /// Adds a sidecar file and counts it.
    pub(crate) fn add_sidecar(&mut self, file: StoredSidecar) {
        self.sidecars.files += 1;
        self.sidecars.unchanged += u64::from(file.unchanged);
        self.sidecars.bytes += file.bytes;
        self.stored.push(file);
    }

    /// Adds a skipped file and the error because of which it was skipped.
    pub(crate) fn refused(&mut self, path: &Path, error: &Error) {
        self.skipped += 1;
        let problem = Problem::of_file(path, ProblemKind::Refused, error.to_string());
        let (path, cause) = (terminal::line(&problem.path), error.kind().name());
        tracing::warn!(%path, cause, "a file was refused");
        self.problems.push(problem);
    }
}

/// Creates problems of whole files, without a line number.
pub(crate) trait OfFile {
    /// Creates a problem of the file at `path`.
    fn of_file(path: &Path, kind: ProblemKind, message: String) -> Self;
}

impl OfFile for Problem {
    fn of_file(path: &Path, kind: ProblemKind, message: String) -> Self {
        let path = path_text(path);
        Self { path, line: None, offset: None, kind, message }
    }
}

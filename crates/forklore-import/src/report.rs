//! The result of an import.

use std::path::Path;

use forklore_api::Imported;
pub use forklore_api::{
    ImportProblem as Problem, ImportProblemKind as ProblemKind, ImportedSession, SidecarTotals,
};
use forklore_core::units::count;
use forklore_core::{Header, SessionId};
use forklore_engine::Error;
use forklore_engine::sources::path_text;
use forklore_sanitize::terminal;

use crate::file_session::FileSession;

/// Maximum number of files that [`ImportReport::passed_over`] names.
pub(crate) const PASSED_OVER: usize = 20;

/// The result of an import: the fields of [`Imported`], and lists of the imported files and sidecar
/// files (files without a session that belong to session files).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportReport {
    /// Number of files with sessions, whether this import read the sessions or an earlier one did.
    /// A file whose sessions were all deleted counts as skipped instead.
    pub files: u64,
    /// The sessions of the imported files that were not deleted, grouped by file.
    pub sessions: Vec<ImportedSession>,
    /// Number of imported files that have not changed since their last import.
    pub unchanged: u64,
    /// Number of files that were not imported, including sidecar files that were not stored.
    pub skipped: u64,
    /// The first 20 files in the given folders that look like session files, but that no known
    /// agent wrote. Each comes with the reason. Files in `problems` are left out.
    pub passed_over: Vec<Problem>,
    /// Counts of the sidecar files.
    pub sidecars: SidecarTotals,
    /// The problems found in files and lines. None of them means that data was lost.
    pub problems: Vec<Problem>,
    /// The paths that the caller named and from which neither this nor an earlier import read a
    /// session. Each comes with the reason, which is also among `problems`. Empty if a search found
    /// the paths ([`ImportOptions::found`](crate::ImportOptions::found)).
    pub failed: Vec<Problem>,
    /// The imported files, each with the ids of its sessions.
    pub sources: Vec<ImportedFile>,
    /// The sidecar files of this import that are in the store.
    pub stored: Vec<StoredSidecar>,
}

/// A sidecar file that this or an earlier import stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSidecar {
    /// The file's path, with symbolic links resolved.
    pub path: String,
    /// The name of the record format of the agent that wrote the file.
    pub dialect: String,
    /// The first session in the session file to which this sidecar file belongs.
    pub session: SessionId,
    /// Number of bytes of the file that this import read.
    pub bytes: u64,
    /// Whether the file is the same as at the last import.
    pub unchanged: bool,
}

/// A session file that this or an earlier import imported.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedFile {
    /// The file's path, with symbolic links resolved.
    pub path: String,
    /// The file's first session, deleted or not. `None` if all sessions of the file were deleted.
    pub first: Option<SessionId>,
    /// The session that the agent would resume if it continued this file; `None` if that is not
    /// known.
    pub leaf: Option<SessionId>,
    /// The file's sessions that were not deleted, in the order in which they begin.
    pub sessions: Vec<SessionId>,
    /// Number of bytes of the file that this import read.
    pub bytes: u64,
    /// Whether an earlier import read sessions from this file, and this import continued after the
    /// bytes that the earlier import read. It is `false` for a new file and for a rewritten file.
    pub continued: bool,
    /// Whether the import read this file only because another file continues it. It is `false` if a
    /// person named the file or a search found it.
    pub brought: bool,
}

impl ImportReport {
    /// Returns the fields of [`Imported`], without the lists of files and sidecar files.
    #[must_use]
    pub fn answer(&self) -> Imported {
        Imported {
            files: self.files,
            sessions: self.sessions.clone(),
            unchanged: self.unchanged,
            skipped: self.skipped,
            passed_over: self.passed_over.clone(),
            sidecars: self.sidecars,
            problems: self.problems.clone(),
        }
    }

    /// Returns the first file that the caller named, or that is in a folder which the caller named.
    /// Returns `None` if there is no such file.
    #[must_use]
    pub fn first_named(&self) -> Option<&ImportedFile> {
        self.sources.iter().find(|file| !file.brought)
    }
}

impl ImportedFile {
    /// Returns the session to use where a user refers to this file, and the file's other sessions.
    /// The session to use is the one that the agent would resume, or else the first one that was
    /// not deleted. Returns `None` if all sessions were deleted.
    #[must_use]
    pub fn meant(&self) -> Option<(&SessionId, Vec<&SessionId>)> {
        let meant = self.leaf.as_ref().filter(|leaf| self.sessions.contains(leaf));
        let meant = meant.or_else(|| self.sessions.first())?;
        Some((meant, self.sessions.iter().filter(|session| *session != meant).collect()))
    }
}

/// Converts a session of an imported file to its entry in the import report.
pub(crate) trait OfSession {
    /// Creates the import report's entry for a session. `dialect` is the name of the record format
    /// in the session's file.
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

/// Returns the message that says how many sessions of a file were deleted.
pub(crate) fn deleted_sessions(number: usize) -> String {
    let so = if number == 1 { "was deleted and stays so" } else { "were deleted and stay so" };
    format!("{} of the file {so}", count(number as u64, "session"))
}

impl ImportReport {
    /// Adds a stored sidecar file to the report, and counts it.
    pub(crate) fn add_sidecar(&mut self, file: StoredSidecar) {
        self.sidecars.files += 1;
        self.sidecars.unchanged += u64::from(file.unchanged);
        self.sidecars.bytes += file.bytes;
        self.stored.push(file);
    }

    /// Adds a skipped file to the report. `error` is the reason why the import skipped it.
    pub(crate) fn refused(&mut self, path: &Path, error: &Error) {
        self.skipped += 1;
        let problem = Problem::of_file(path, ProblemKind::Refused, error.to_string());
        let (path, cause) = (terminal::line(&problem.path), error.kind().name());
        tracing::warn!(%path, cause, "a file was refused");
        self.problems.push(problem);
    }
}

/// Creates an import problem of a whole file, without a line number.
pub(crate) trait OfFile {
    /// Creates an import problem of the file at `path`, without a line number.
    fn of_file(path: &Path, kind: ProblemKind, message: String) -> Self;
}

impl OfFile for Problem {
    fn of_file(path: &Path, kind: ProblemKind, message: String) -> Self {
        let path = path_text(path);
        Self { path, line: None, offset: None, kind, message }
    }
}

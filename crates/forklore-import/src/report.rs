//! The result of an import.

use std::path::Path;

use forklore_core::{Cut, Header, SessionId};
use forklore_engine::Error;
use forklore_engine::sources::path_text;
use forklore_sanitize::terminal;
use serde::Serialize;

use crate::file_session::FileSession;

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
    #[serde(rename = "beside")]
    pub sidecars: SidecarTotals,
    /// Problems of files and lines. No data was lost because of them.
    pub problems: Vec<Problem>,
    /// The imported files with their sessions.
    #[serde(skip)]
    pub sources: Vec<ImportedFile>,
    /// The sidecar files.
    #[serde(skip)]
    pub stored: Vec<StoredSidecar>,
}

/// Totals of the sidecar files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SidecarTotals {
    /// Number of sidecar files stored.
    pub files: u64,
    /// Number of them that have not changed since the last import.
    pub unchanged: u64,
    /// Number of bytes read by this import.
    pub bytes: u64,
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

/// A session of an imported file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ImportedSession {
    /// The session.
    pub session_id: SessionId,
    /// The dialect of its records.
    pub dialect: String,
    /// Number of its own events that came from the file, without its `session_fork`.
    pub events: u64,
    /// Number of them that this import added.
    pub appended: u64,
    /// Size of the payloads in its history that are stored with other sessions, in bytes.
    pub shared_bytes: u64,
    /// The session from which it branches, or whose delegate it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<SessionId>,
    /// The cut in the parent at which it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
}

impl ImportedSession {
    pub(crate) fn of(dialect: &str, session: &FileSession, header: Header) -> Self {
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

/// A problem of a file or of a line in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file's path.
    pub path: String,
    /// The line number, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The byte offset in the file, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The kind of problem.
    pub kind: ProblemKind,
    /// A description for people.
    pub message: String,
}

impl Problem {
    pub(crate) fn of_file(path: &Path, kind: ProblemKind, message: String) -> Self {
        let path = path_text(path);
        Self { path, line: None, offset: None, kind, message }
    }
}

/// Kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProblemKind {
    /// Bytes that are not a record. They are stored with the source.
    Damage,
    /// Several records in one line. Each was read.
    Splice,
    /// A record whose bytes are not UTF-8. It was read with replacement characters, and its bytes
    /// are stored with the source.
    NotUtf8,
    /// A line longer than the limit. Its bytes are stored with the source.
    LineTooLong,
    /// A record whose parent does not precede it. It begins a branch at the start.
    MissingParent,
    /// The session that this one continues does not exist, so the file was not imported; or the
    /// session that called this one does not exist, so this one is a root.
    MissingBase,
    /// Data that the agent does not normally write, or that this version does not know. Everything
    /// readable was read.
    Irregular,
    /// A document larger than the limit, of which nothing was read, or compressed content that is
    /// too large for its file, which was read only up to the limit.
    TooLarge,
    /// The last line is incomplete. It is read once it is complete.
    Incomplete,
    /// The file cannot be read.
    Unreadable,
    /// The file has no records of a known agent.
    UnknownFormat,
    /// The file no longer begins with the bytes that were read before. It was read as a new
    /// revision.
    Rewritten,
    /// Records of a deleted session were skipped.
    Deleted,
    /// The store refused the file.
    Refused,
    /// The file has more problems than are listed.
    More,
}

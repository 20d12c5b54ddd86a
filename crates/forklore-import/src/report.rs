//! What an import came to.

use std::path::Path;

use forklore_core::{Cut, Header, SessionId};
use forklore_engine::Error;
use forklore_engine::sources::path_text;
use serde::Serialize;

use crate::file_session::FileSession;

/// What an import came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImportReport {
    /// Files that an agent's records were found in.
    pub files: u64,
    /// Their sessions, those of one file together.
    pub sessions: Vec<ImportedSession>,
    /// How many of them are as they were when they were read last.
    pub unchanged: u64,
    /// Files in which none were found.
    pub skipped: u64,
    /// Files without a session of their own that lie beside those of sessions.
    #[serde(rename = "beside")]
    pub sidecars: SidecarTotals,
    /// What was wrong with files and lines; nothing of it was lost.
    pub problems: Vec<Problem>,
    /// The same by file.
    #[serde(skip)]
    pub sources: Vec<ImportedFile>,
    /// Each of the files beside.
    #[serde(skip)]
    pub stored: Vec<StoredSidecar>,
}

/// The files beside those of sessions, together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SidecarTotals {
    /// How many are kept.
    pub files: u64,
    /// How many of them are as they were when they were read last.
    pub unchanged: u64,
    /// Bytes read this time.
    pub bytes: u64,
}

/// A file that is kept beside the one of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSidecar {
    /// The file, without links.
    pub path: String,
    /// Whose it is.
    pub dialect: String,
    /// The first session of the file that it lies beside.
    pub session: SessionId,
    /// Bytes read this time.
    pub bytes: u64,
    /// Whether it is as it was when it was read last.
    pub unchanged: bool,
}

/// A file that was imported, or was known already.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedFile {
    /// The file, without links.
    pub path: String,
    /// Its first session.
    pub first: Option<SessionId>,
    /// The session that the agent would resume.
    pub leaf: Option<SessionId>,
    /// All its sessions that still exist, in the order in which they were begun.
    pub sessions: Vec<SessionId>,
    /// Bytes read this time.
    pub bytes: u64,
    /// Whether it was read only because another file continues it.
    pub brought: bool,
}

impl ImportReport {
    /// The first file that was named, or found in a folder that was.
    #[must_use]
    pub fn first_named(&self) -> Option<&ImportedFile> {
        self.sources.iter().find(|file| !file.brought)
    }
}

impl ImportedFile {
    /// The session that a reference to the file means (its leaf), and the others.
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
    /// Whose records it holds.
    pub dialect: String,
    /// Events that it wrote itself and that came from the file, without its `session_fork`.
    pub events: u64,
    /// How many of them came this time.
    pub appended: u64,
    /// Payload bytes of its history that other sessions keep for it.
    pub shared_bytes: u64,
    /// The session it branches off from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<SessionId>,
    /// Where.
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
    /// Adds a file beside.
    pub(crate) fn add_sidecar(&mut self, file: StoredSidecar) {
        self.sidecars.files += 1;
        self.sidecars.unchanged += u64::from(file.unchanged);
        self.sidecars.bytes += file.bytes;
        self.stored.push(file);
    }

    /// Adds a file that the store refused.
    pub(crate) fn refused(&mut self, path: &Path, error: &Error) {
        self.skipped += 1;
        self.problems.push(Problem::of_file(path, ProblemKind::Refused, error.to_string()));
    }
}

/// Something wrong with a file or a line of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file.
    pub path: String,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The byte, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// What sort of thing.
    pub kind: ProblemKind,
    /// What it is, in words.
    pub message: String,
}

impl Problem {
    pub(crate) fn of_file(path: &Path, kind: ProblemKind, message: String) -> Self {
        let path = path_text(path);
        Self { path, line: None, offset: None, kind, message }
    }
}

/// Sorts of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProblemKind {
    /// Bytes that are no record; kept with the source.
    Damage,
    /// Several records in one line; each was read.
    Splice,
    /// A record whose bytes are not UTF-8; read with replacement characters, the bytes kept.
    NotUtf8,
    /// A line over the limit; kept with the source.
    LineTooLong,
    /// A record whose parent is nowhere before it; it begins a branch at the start.
    MissingParent,
    /// The session continues another one that is not there, and was not imported; or that of its
    /// caller is not there, and it is a root.
    MissingBase,
    /// Something is not as the agent writes it, or of a kind that this version does not know;
    /// what can be read was read.
    Irregular,
    /// A document over the limit; nothing of it was read.
    TooLarge,
    /// The last line is not whole; it waits until it is.
    Incomplete,
    /// The file cannot be read.
    Unreadable,
    /// No agent's records are in the file.
    UnknownFormat,
    /// The file is not what it was when it was read before; it was read again as a new revision.
    Rewritten,
    /// Records of a session that was deleted were passed over.
    Deleted,
    /// The store refused.
    Refused,
    /// More problems of this file are not listed.
    More,
}

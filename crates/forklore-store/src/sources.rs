//! Sources: files of other agents from which sessions were imported (docs/semantics.md, Sources).
//!
//! A store with the capability `sources` records how the bytes of each file are composed of event
//! payloads and other stored bytes. It also records, by native id, where each record of the file is
//! stored. One transaction with a [`SourceStep`] writes all of this together with the sessions and
//! events, or writes nothing.

mod apply_step;
mod ranges;
mod sidecar;
mod waiting;

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

pub use ranges::{LineEnd, Patch, RangeError, SourceSpan, decode, encode};
pub use sidecar::{check_sidecar, sidecar_key};
pub use waiting::WaitingLine;

/// The number by which the store identifies a source (an imported file).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SourceId(pub u64);

/// A hash that identifies a record, a name of a file, or a file's first line. It is the first 8
/// bytes of a SHA-256. For a record, the hashed text is the one by which other records refer to
/// that record. This is usually the record's native id, which the file's agent gave to it.
pub type RecordKey = u64;

/// Selects the sources (imported files) to find.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindSource {
    /// The sources read from this path, including earlier revisions.
    Path(String),
    /// The latest source read from this path.
    Latest(String),
    /// The sources that are sidecars of the session file at this path, each with its earlier
    /// revisions. A sidecar is a file without a session that an agent stores with a session file.
    SidecarsOf(String),
    /// The sources whose first line has this key (a hash).
    FirstLine(RecordKey),
    /// The sources that have the name with this key among their [`names`](Source::names).
    Name(RecordKey),
    /// The source from which this session was imported.
    Session(SessionId),
}

/// A source: what the store records about an imported file of another agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The number by which the store identifies the source.
    pub id: SourceId,
    /// The dialect of the file: the record format of the agent that wrote it.
    pub dialect: String,
    /// The id by which the agent refers to the session of the file.
    pub native_id: String,
    /// How often the file had been overwritten before this version of it was read; 0 for the first
    /// version.
    pub revision: u64,
    /// The key (a hash) of the file's first line. An import uses it to recognise a file that was
    /// moved. For a file that is one document, this is the key of its first bytes. A sidecar has a
    /// special key, so it is never taken for a moved session file.
    pub first_line: RecordKey,
    /// The keys (hashes) of the names by which other files may refer to this imported file, in
    /// ascending order.
    pub names: Vec<RecordKey>,
    /// The paths at which the file was found, oldest first.
    pub paths: Vec<SeenFile>,
    /// The sessions of the source, in the order in which they were created.
    /// [`RecordLocation::session`] is an index into this list.
    pub sessions: Vec<SourceSession>,
    /// How far the file was read by the import steps so far.
    pub read: Progress,
}

/// A path at which a file was seen, with metadata that shows cheaply whether the file has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenFile {
    /// The path, with symbolic links resolved.
    pub path: String,
    /// The file's size in bytes at the last read, or 0 if that read did not reach the file's end.
    pub size: u64,
    /// The file's modification time at the last read, in nanoseconds since the Unix epoch. 0 if
    /// that read did not reach the file's end. For a session inside a container (such as a
    /// database), a number that changes with the session.
    pub modified: i64,
}

/// A session that was imported from a source (a file of another agent).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceSession {
    /// The id of the session.
    pub id: SessionId,
    /// The number of the session's own events that came from the file, including the `session_fork`
    /// of a fork. A session with more own events was continued in forklore.
    pub events: u64,
}

/// The progress of an import: how far it has read a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of bytes of the file that were read.
    pub offset: u64,
    /// The SHA-256 of the bytes that were read.
    pub sha256: [u8; 32],
    /// The state that the importer needs to continue. It is opaque to the store.
    pub state: String,
}

/// The location of a record in the store: a session of the record's source, and the position of an
/// event of that session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RecordLocation {
    /// The session's index in [`Source::sessions`], at most [`RecordLocation::LAST_SESSION`].
    pub session: u32,
    /// The position of the event among the session's own events, from 0. If `inherited` is true,
    /// the event's seq in the session's history.
    pub position: u64,
    /// Whether the record repeats an event that the session inherits.
    pub inherited: bool,
}

impl RecordLocation {
    /// The highest index that a session of a source may have.
    pub const LAST_SESSION: u32 = u32::MAX >> 1;

    /// Returns the location of a record that is an own event of a session. `session` is the
    /// session's index, and `position` the event's position among the own events.
    #[must_use]
    pub fn own(session: u32, position: u64) -> Self {
        Self { session, position, inherited: false }
    }
}

/// One step of an import, which reads the next bytes of a file. It records what these bytes consist
/// of, and how far the file is read after the step. The writes of the same transaction contain the
/// sessions and events that the bytes contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceStep {
    /// The source to which the step adds the bytes.
    pub target: Target,
    /// The id by which the agent refers to the session of the file, as far as the bytes read so far
    /// determine it.
    pub native_id: String,
    /// The path from which the step read, with the size and the modification time of the file.
    pub seen: SeenFile,
    /// The spans that the bytes of this step consist of, in order. A span is a range of the bytes.
    pub ranges: Vec<SourceSpan>,
    /// The keys and locations of the records in the bytes that the step reads. If a key (a hash of
    /// a record's id) occurs twice, its later location is valid.
    pub locations: Vec<(RecordKey, RecordLocation)>,
    /// The keys (hashes) of additional names by which other files may refer to the source.
    pub names: Vec<RecordKey>,
    /// For a sidecar, the path of the session file to which it belongs; `None` for any other file.
    /// A sidecar is an extra file without a session. [`FindSource::SidecarsOf`] finds the sidecar
    /// by this path. If any session of the session file is deleted, the bytes of the sidecar are
    /// deleted too.
    pub sidecar_of: Option<String>,
    /// How far the file is read after this import step.
    pub read: Progress,
    /// Whether this step reads to the end of the file. Earlier steps may become durable only
    /// together with the last step. This is safe: only the whole import is acknowledged, and data
    /// lost in a crash is read again.
    pub last: bool,
}

/// The source that an import step writes to, with the state that the caller expects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The step creates a new source. If `latest` is given, the new source is the next revision of
    /// that source: the file after a rewrite.
    New {
        /// The dialect of the file: the record format of the agent that wrote it.
        dialect: String,
        /// How often the file had been overwritten before this version of it; 0 for the first
        /// version.
        revision: u64,
        /// The key (a hash) of the file's first line. An import uses it to recognise a file that
        /// was moved. For a file that is one document, this is the key of its first bytes. A
        /// sidecar has a special key, so it is never taken for a moved session file.
        first_line: RecordKey,
        /// The latest source (imported version of the file) that the caller found for the path;
        /// `None` if it found none. The step is refused as `Stale` if this is no longer the latest.
        latest: Option<SourceId>,
    },
    /// The step continues an existing source after its first `offset` bytes.
    State {
        /// The id of the source.
        id: SourceId,
        /// The number of bytes that the caller expects to have been read before this step.
        offset: u64,
    },
}

//! Sources: files of other agents from which sessions were imported (docs/semantics.md, Sources).
//!
//! A store with the capability `sources` also records how the bytes of each file are composed of
//! payloads and other retained bytes, and the location of the record with each native id. One
//! transaction with a [`SourceStep`] writes sessions, events and all of this together, or nothing.

mod ranges;
mod sidecar;

use forklore_core::SessionId;

pub use ranges::{LineEnd, RangeError, SourceSpan, decode, encode};
pub use sidecar::{check_sidecar, sidecar_key};

/// A source, by the store's own number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u64);

/// A native id, or the first line of a file, as the first 8 bytes of its SHA-256.
pub type RecordKey = u64;

/// Selects the sources to find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindSource {
    /// Sources read from this path, including earlier revisions.
    Path(String),
    /// The latest of the sources read from this path.
    Latest(String),
    /// Sources of the sidecar files of the session file at this path, including earlier revisions.
    SidecarsOf(String),
    /// Sources whose file begins with this line.
    FirstLine(RecordKey),
    /// Sources with this name.
    Name(RecordKey),
    /// The source that the session was read from.
    Session(SessionId),
}

/// A file of another agent, as far as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Its number.
    pub id: SourceId,
    /// The agent format of the file.
    pub dialect: String,
    /// The id by which its agent refers to it.
    pub native_id: String,
    /// How often the file had been rewritten in place before.
    pub revision: u64,
    /// The key of its first line.
    pub first_line: RecordKey,
    /// The names by which other files may refer to it, in ascending order.
    pub names: Vec<RecordKey>,
    /// The paths where it was found, the first one first.
    pub paths: Vec<SeenFile>,
    /// Its sessions, in the order in which they began; a [`RecordLocation`] has an index into them.
    pub sessions: Vec<SourceSession>,
    /// How far it was read.
    pub read: Progress,
}

/// A path with the metadata of its file, to detect cheaply that nothing changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenFile {
    /// The path, with symbolic links resolved.
    pub path: String,
    /// The file's size in bytes when it was read to its end; 0 before that.
    pub size: u64,
    /// Its modification time then, in nanoseconds since 1970.
    pub modified: i64,
}

/// A session of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSession {
    /// The session.
    pub id: SessionId,
    /// The number of its own events that came from the file, including a fork's first event. If it
    /// has more, it was continued in forklore.
    pub events: u64,
}

/// How far a file was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of bytes read so far.
    pub offset: u64,
    /// The SHA-256 of these bytes.
    pub sha256: [u8; 32],
    /// The state that the importer needs; opaque to the store.
    pub state: String,
}

/// The location of a record: a session of its source, and the position among that session's own
/// events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordLocation {
    /// The session's index in [`Source::sessions`], at most [`RecordLocation::LAST_SESSION`].
    pub session: u32,
    /// The position, from 0.
    pub position: u64,
    /// Whether the record repeats an event that the session inherits. If so, the position is the
    /// event's seq in the session's history.
    pub inherited: bool,
}

impl RecordLocation {
    /// The highest index that a session of a source has.
    pub const LAST_SESSION: u32 = u32::MAX >> 1;

    /// Returns a location among a session's own events.
    #[must_use]
    pub fn own(session: u32, position: u64) -> Self {
        Self { session, position, inherited: false }
    }
}

/// A step of an import: what the next bytes of a file consist of, and how far the file is read
/// after them. The writes of the same transaction are the sessions and events read from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceStep {
    /// The source that grows.
    pub target: Target,
    /// The id by which its agent refers to it, as far as it is known yet.
    pub native_id: String,
    /// The path that was read.
    pub seen: SeenFile,
    /// What the bytes after the offset consist of, in order.
    pub ranges: Vec<SourceSpan>,
    /// The locations of the records in them. If a key occurs twice, the later one counts.
    pub locations: Vec<(RecordKey, RecordLocation)>,
    /// Additional names by which other files may refer to the source.
    pub names: Vec<RecordKey>,
    /// The path of the session file, if the source is a sidecar without its own session. It can be
    /// found by that path ([`FindSource::SidecarsOf`]) and loses its bytes when any session of that
    /// file is deleted.
    pub sidecar_of: Option<String>,
    /// How much of the file has been read after this step.
    pub read: Progress,
    /// Whether the file is read to its end. Steps before that may become durable together with this
    /// one: only the whole import is acknowledged, and data lost in a crash is read again.
    pub last: bool,
}

/// The source that a step writes to, with its expected state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A new source. It is a new revision of `latest`, which is the latest source of its path.
    New {
        /// The agent format of the file.
        dialect: String,
        /// How often it had been rewritten before.
        revision: u64,
        /// The key of its first line.
        first_line: RecordKey,
        /// The latest source of the path that the caller saw.
        latest: Option<SourceId>,
    },
    /// An existing source that was read up to `offset`.
    State {
        /// The source.
        id: SourceId,
        /// The number of bytes that the caller expects to have been read.
        offset: u64,
    },
}

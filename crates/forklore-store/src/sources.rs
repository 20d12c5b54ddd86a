//! Files of other agents from which sessions were read (SPEC 11).
//!
//! A store with the capability `sources` also says how every byte of each file is made up of
//! payloads and kept bytes, and where the record of a native id stands. One transaction with a
//! [`SourceStep`] writes sessions, events and all of this together, or nothing.

mod ranges;
mod sidecar;

use forklore_core::SessionId;

pub use ranges::{LineEnd, RangeError, SourceSpan, decode, encode};
pub use sidecar::{check_sidecar, sidecar_key};

pub use crate::port::Store as Sources;

/// A source, by the store's own number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u64);

/// A native id, or the first line of a file, as the first 8 bytes of its sha256.
pub type RecordKey = u64;

/// Which sources to find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindSource {
    /// Those read from this path, earlier revisions too.
    Path(String),
    /// The latest of those.
    Latest(String),
    /// Those of files that lie beside the session file at this path, earlier revisions too.
    SidecarsOf(String),
    /// Those whose file begins with this line.
    FirstLine(RecordKey),
    /// Those that go by this name.
    Name(RecordKey),
    /// The one that the session was read from.
    Session(SessionId),
}

/// A file of another agent, as far as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Its number.
    pub id: SourceId,
    /// Whose file it is.
    pub dialect: String,
    /// The id that its agent knows it by.
    pub native_id: String,
    /// How often the file was rewritten in place before.
    pub revision: u64,
    /// Its first line.
    pub first_line: RecordKey,
    /// What other files may know it by, in rising order.
    pub names: Vec<RecordKey>,
    /// Where it was seen, the first place first.
    pub paths: Vec<SeenFile>,
    /// Its sessions, in the order they were begun; a [`RecordLocation`] counts them.
    pub sessions: Vec<SourceSession>,
    /// How far it was read.
    pub read: Progress,
}

/// A path with what a look at its file showed, to tell cheaply that nothing changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenFile {
    /// The path, without links.
    pub path: String,
    /// The file's size when it was read to its end; 0 before that.
    pub size: u64,
    /// Its time of change then, in nanoseconds since 1970.
    pub modified: i64,
}

/// A session of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSession {
    /// The session.
    pub id: SessionId,
    /// How many of its own events came from the file, a fork's first event included. It was
    /// continued here when it has more.
    pub events: u64,
}

/// How far a file was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The bytes accounted for.
    pub offset: u64,
    /// Their sha256.
    pub sha256: [u8; 32],
    /// What the importer has to remember; opaque to the store.
    pub state: String,
}

/// Where a record stands: a session of its source, and the position among that session's own
/// events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordLocation {
    /// The session's number in [`Source::sessions`], at most [`RecordLocation::LAST_SESSION`].
    pub session: u32,
    /// The position, from 0.
    pub position: u64,
    /// The record repeats an event that the session inherits: the position is the event's seq in
    /// the session's history.
    pub inherited: bool,
}

impl RecordLocation {
    /// The highest number that a session of a source has.
    pub const LAST_SESSION: u32 = u32::MAX >> 1;

    /// A place among a session's own events.
    #[must_use]
    pub fn own(session: u32, position: u64) -> Self {
        Self { session, position, inherited: false }
    }
}

/// A stretch of a file: what its bytes are made of, and how far the file is read after it. The
/// writes of its transaction are what was read in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceStep {
    /// The source that grows.
    pub target: Target,
    /// The id that its agent knows it by, as far as it is known by now.
    pub native_id: String,
    /// The path that was read.
    pub seen: SeenFile,
    /// What the bytes behind the offset are, in order.
    pub ranges: Vec<SourceSpan>,
    /// Where the records in them stand. Of two with one key the later counts.
    pub locations: Vec<(RecordKey, RecordLocation)>,
    /// What other files may know the source by, besides what was said before.
    pub names: Vec<RecordKey>,
    /// The path of the session file that the source lies beside, where it holds no session of its
    /// own. It is found by that path ([`FindSource::Beside`]) and loses its bytes with any session
    /// of that file.
    pub sidecar: Option<String>,
    /// How far the file is read behind this step.
    pub read: Progress,
    /// Whether the file is read to its end. Steps before that may become durable together with
    /// this one: only the whole is acknowledged, and what a crash takes is read again.
    pub last: bool,
}

/// The source that a step is about, and what it expects of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// One to be made; `latest` is the latest source of its path, of which it is a new revision.
    New {
        /// Whose file it is.
        dialect: String,
        /// How often it was rewritten before.
        revision: u64,
        /// Its first line.
        first_line: RecordKey,
        /// The latest source of the path that the caller saw.
        latest: Option<SourceId>,
    },
    /// One that was read up to `offset`.
    State {
        /// The source.
        id: SourceId,
        /// How far.
        offset: u64,
    },
}

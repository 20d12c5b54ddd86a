//! The spans that the bytes of a source consist of.
//!
//! A span can cover many records. A file with a million records of one session needs one span per
//! import step, not a million rows.

mod encoding;

use forklore_core::SessionId;

pub use encoding::{RangeError, decode, encode};

/// A description of a range of bytes of a source (an imported file). It names or contains the
/// stored data from which these bytes can be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceSpan {
    /// The bytes are the payloads of consecutive own events of one session, each followed by the
    /// same line end.
    Events {
        /// The index of the session among the sessions that were imported from the file.
        session: u32,
        /// The position of the first event among the session's own events.
        from: u64,
        /// The number of consecutive events.
        count: u64,
        /// The line end after each payload.
        end: LineEnd,
    },
    /// Bytes that are not an event, such as damage, separators and records about the file.
    Other(Vec<u8>),
    /// An event whose original bytes cannot be restored from its payload. The original bytes are
    /// therefore stored here. They are not UTF-8, or they are JSON in a layout that
    /// [`SourceSpan::Spread`] cannot describe.
    Raw {
        /// The index of the session among the sessions that were imported from the file.
        session: u32,
        /// The event's position among the session's own events.
        position: u64,
        /// The original bytes of the event in the file.
        bytes: Vec<u8>,
    },
    /// The bytes are the payload of an event, formatted as indented JSON on several lines. Each
    /// field and each list value has a line of its own.
    Spread {
        /// The index of the session among the sessions that were imported from the file.
        session: u32,
        /// The event's position among the session's own events.
        position: u64,
        /// The ASCII prefix of each line of the payload, except the first line.
        margin: Vec<u8>,
        /// The ASCII indentation for each level of nesting.
        indent: Vec<u8>,
        /// The line end between the lines of the payload.
        end: LineEnd,
    },
    /// The bytes are the payloads of consecutive events that a session of the file inherits. Each
    /// payload is followed by the same line end. Such bytes occur in a file that begins with a copy
    /// of another file's records.
    Inherited {
        /// The index of the session among the sessions that were imported from the file.
        session: u32,
        /// The position (seq) of the range's first event in the history of the session.
        seq: u64,
        /// The number of consecutive events.
        count: u64,
        /// The line end after each payload.
        end: LineEnd,
    },
    /// The bytes are the payload of an event that a session of the file inherits. A few bytes of
    /// the payload are replaced.
    Patched {
        /// The index of the session among the sessions that were imported from the file.
        session: u32,
        /// The event's seq in the session's history.
        seq: u64,
        /// The number of payload bytes before the replacement.
        at: u64,
        /// The number of payload bytes that are replaced.
        removed: u64,
        /// The bytes that replace the removed payload bytes.
        inserted: Vec<u8>,
        /// The line end after the payload.
        end: LineEnd,
    },
    /// The bytes are the payload of an event that a session of the file inherits. Bytes at several
    /// places of the payload are replaced.
    PatchedOften {
        /// The index of the session among the sessions that were imported from the file.
        session: u32,
        /// The event's seq in the session's history.
        seq: u64,
        /// The replacements, in the order of the payload. They do not overlap.
        patches: Vec<Patch>,
        /// The line end after the payload.
        end: LineEnd,
    },
    /// The bytes are the payloads of consecutive events that an earlier revision (version) of the
    /// file already contained. The events belong to a session of that revision, and each payload is
    /// followed by the same line end.
    Shared {
        /// The id of the session, which was imported from an earlier revision.
        session: SessionId,
        /// The position (seq) of the range's first event in the history of the session.
        seq: u64,
        /// The number of consecutive events.
        count: u64,
        /// The line end after each payload.
        end: LineEnd,
    },
    /// The bytes are the payload of an event of an earlier revision, as in [`SourceSpan::Shared`].
    /// The payload is formatted as indented JSON on several lines, as in [`SourceSpan::Spread`].
    SharedSpread {
        /// The id of the session, which was imported from an earlier revision.
        session: SessionId,
        /// The event's seq in the session's history.
        seq: u64,
        /// The ASCII prefix of each line of the payload, except the first line.
        margin: Vec<u8>,
        /// The ASCII indentation for each level of nesting.
        indent: Vec<u8>,
        /// The line end between the lines of the payload.
        end: LineEnd,
    },
    /// Bytes at the end of the file that were not read as records, because its last line is
    /// unfinished. They come after [`Progress::offset`](super::Progress::offset). They are no
    /// longer valid if another span of the file follows, as [`WaitingLine`](super::WaitingLine)
    /// describes.
    Waiting {
        /// How many of the bytes that wait so far continue to wait. The bytes of this span follow
        /// them. If the number is 0, the bytes of this span replace all bytes that wait so far.
        after: u64,
        /// The waiting bytes that this span contains.
        bytes: Vec<u8>,
        /// The SHA-256 of the whole file up to the last of these bytes.
        sha256: [u8; 32],
    },
    /// A range whose bytes cannot be restored, with the number of bytes that are missing. Either
    /// the range had records for a session that was already deleted, so its bytes were never
    /// stored, or stored bytes of the range were erased. In a replaced [`Patched`](Self::Patched)
    /// or [`PatchedOften`](Self::PatchedOften), only the replacement bytes were erased and count
    /// here; the other bytes of the range are in the payload of an event.
    Gone(u64),
}

impl SourceSpan {
    /// Returns the span that replaces this span when the stored bytes of an imported file are
    /// erased. `None` if this span contains no bytes of its own and remains unchanged.
    #[must_use]
    pub fn forgotten(&self) -> Option<Self> {
        match self {
            Self::Other(bytes)
            | Self::Raw { bytes, .. }
            | Self::Waiting { bytes, .. }
            | Self::Patched { inserted: bytes, .. } => Some(Self::Gone(bytes.len() as u64)),
            Self::PatchedOften { patches, .. } => {
                let bytes: usize = patches.iter().map(|patch| patch.inserted.len()).sum();
                Some(Self::Gone(bytes as u64))
            }
            Self::Events { .. }
            | Self::Spread { .. }
            | Self::Inherited { .. }
            | Self::Shared { .. }
            | Self::SharedSpread { .. }
            | Self::Gone(_) => None,
        }
    }
}

/// A replacement of bytes of a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The number of payload bytes before the replacement.
    pub at: u64,
    /// The number of payload bytes that are replaced.
    pub removed: u64,
    /// The bytes that replace the removed payload bytes.
    pub inserted: Vec<u8>,
}

/// The line end after a payload or a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// No line end, or a line end whose bytes are stored elsewhere.
    None,
    /// A line feed.
    Lf,
    /// A carriage return and a line feed.
    CrLf,
}

impl LineEnd {
    /// Returns the bytes of the line end.
    #[must_use]
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Self::None => b"",
            Self::Lf => b"\n",
            Self::CrLf => b"\r\n",
        }
    }
}

//! Keys of event rows: one 64-bit integer contains the number of the segment and the position in
//! it.

use crate::number::signed;

/// The number of a segment. The segment with a session's own events has the session's number, its
/// `sid`.
pub(crate) type Segment = i64;

const POSITION_BITS: u32 = 32;

/// The highest position that fits into a key.
pub(crate) const LAST_POSITION: u64 = (1 << POSITION_BITS) - 1;

/// Returns the key of a position.
pub(crate) fn key(segment: Segment, position: u64) -> i64 {
    (segment << POSITION_BITS) | signed(position.min(LAST_POSITION))
}

/// Returns the position in a key.
pub(crate) fn position(k: i64) -> u64 {
    (k & signed(LAST_POSITION)).unsigned_abs()
}

/// Returns the segment in a key.
pub(crate) fn of(k: i64) -> Segment {
    k >> POSITION_BITS
}

/// A range of positions in one segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) segment: Segment,
    pub(crate) from: u64,
    /// The end of the range, exclusive.
    pub(crate) to: u64,
    /// Whether the range contains only inheritable events. Other events at its positions are
    /// skipped.
    pub(crate) inherited: bool,
}

/// Maximum number of positions that a chunk covers: one bit for each.
pub(crate) const POSITIONS: u64 = 64;

/// Maximum total size of the payloads in a chunk of several events, in bytes. Reading one of these
/// events may read that many bytes.
pub(crate) const CHUNK_BYTES: usize = 256 << 10;

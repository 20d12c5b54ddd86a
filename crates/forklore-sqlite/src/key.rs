//! Where an event lies: a position of a segment, and the key of its row.

use crate::number::signed;

/// The number of a segment; a session's is its `sid`.
pub(crate) type Segment = i64;

const POSITION_BITS: u32 = 32;

/// The last position a segment has room for.
pub(crate) const LAST_POSITION: u64 = (1 << POSITION_BITS) - 1;

/// The key of a position.
pub(crate) fn key(segment: Segment, position: u64) -> i64 {
    (segment << POSITION_BITS) | signed(position.min(LAST_POSITION))
}

/// The position of a key.
pub(crate) fn position(k: i64) -> u64 {
    (k & signed(LAST_POSITION)).unsigned_abs()
}

/// The segment of a key.
pub(crate) fn of(k: i64) -> Segment {
    k >> POSITION_BITS
}

/// Positions of one segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) segment: Segment,
    pub(crate) from: u64,
    /// Behind the last.
    pub(crate) to: u64,
    /// Whether events that are not inherited are passed over.
    pub(crate) inherited: bool,
}

/// The most positions that a chunk covers: one bit each.
pub(crate) const POSITIONS: u64 = 64;

/// The payloads of one chunk together: so much is read for any one of them.
pub(crate) const CHUNK_BYTES: usize = 256 << 10;

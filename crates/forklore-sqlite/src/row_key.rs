//! The location of an event: a position in a segment, and the key of its row.

use crate::number::signed;

/// The number of a segment. For a session's own segment it is the session's `sid`.
pub(crate) type Segment = i64;

const POSITION_BITS: u32 = 32;

/// The largest position that fits into a key.
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
    /// The position after the last one.
    pub(crate) to: u64,
    /// Whether to skip events that are not inheritable.
    pub(crate) inherited: bool,
}

/// Maximum number of positions that a chunk covers: one bit for each.
pub(crate) const POSITIONS: u64 = 64;

/// Maximum bytes of all payloads in a chunk of several events. Reading any one of them may read
/// this much.
pub(crate) const CHUNK_BYTES: usize = 256 << 10;

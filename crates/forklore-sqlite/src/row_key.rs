//! Keys of event rows: one 64-bit integer contains the number of the segment and the position in
//! it.

use crate::integer::signed;

/// The number of a segment (a group of events stored together). A session's own events are in the
/// segment that has the session's number, its `sid`.
pub(crate) type Segment = i64;

const POSITION_BITS: u32 = 32;

/// The highest position in a segment that fits into the key of an event.
pub(crate) const LAST_POSITION: u64 = (1 << POSITION_BITS) - 1;

/// Combines a segment and a position in it into the key of an event.
pub(crate) fn key(segment: Segment, position: u64) -> i64 {
    (segment << POSITION_BITS) | signed(position.min(LAST_POSITION))
}

/// Returns the position in the segment that the event key `k` contains.
pub(crate) fn position(k: i64) -> u64 {
    (k & signed(LAST_POSITION)).unsigned_abs()
}

/// Returns the segment that the event key `k` contains.
pub(crate) fn of(k: i64) -> Segment {
    k >> POSITION_BITS
}

/// A range of positions of events in one segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) segment: Segment,
    pub(crate) from: u64,
    /// The end (exclusive) of the range of positions.
    pub(crate) to: u64,
    /// Whether the range includes only inheritable events, i.e. those that children inherit. Other
    /// events between the ends of the range are then skipped.
    pub(crate) inherited: bool,
}

/// What a callback returns after an event: continue with the next one, stop at the end of the
/// chunk, or stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Row,
    /// Continue up to the end of the chunk, if the event is in one, and stop there. The rest of a
    /// chunk is already in memory, and a later visit would have to read the whole chunk again.
    Chunk,
    Stop,
}

/// Maximum number of events in a chunk. The row of a chunk has bit sets with one bit per event.
pub(crate) const POSITIONS: u64 = 64;

/// Maximum total size in bytes of the payloads in a chunk of several events. Reading one event of a
/// chunk may require reading all of them.
pub(crate) const CHUNK_BYTES: usize = 256 << 10;

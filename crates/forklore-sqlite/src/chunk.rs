//! Chunks: up to 64 events of a segment in one row.
//!
//! An event is first stored in a row of its own. Once enough adjacent events have such rows, they
//! are sealed: one chunk replaces their rows. Nothing is ever added to a chunk. Its content changes
//! only when events are erased.

mod body;
mod envelopes;
mod outline;
mod run;
mod table;

use forklore_store::port::Direction;

pub(crate) use self::body::{Bodies, Codec};
pub(crate) use self::outline::Outline;
pub(crate) use self::run::{runs, write_run};
pub(crate) use self::table::{
    Sealed, end, erase_from, erase_own, first, one, overlap, plain, prepare, read, read_whole,
    sum_of,
};

use self::body::Body;
use self::envelopes::Placed;
use crate::fault::{Fault, Result};
use crate::row::{self, Row};

/// A chunk (up to 64 consecutive events in one row) that was read. Reading checked everything
/// except the payloads: the checksum of each payload is checked when that payload is returned.
pub(crate) struct Chunk {
    pub(crate) outline: Outline,
    pub(crate) codec: Codec,
    /// The checksum that the chunk's row had when it was read. Before a later write replaces the
    /// row, it compares this with the row's current checksum, because another process may have
    /// changed the row.
    pub(crate) sum: u32,
    /// The events of the chunk that the caller requested.
    events: Vec<Placed>,
    /// The total length in bytes of the chunk's payloads before compression. For a compressed chunk
    /// it includes all payloads, because decompression needs that length. For an uncompressed chunk
    /// it may include only the payloads up to the last requested event.
    len: usize,
    body: Option<Body>,
}

impl Chunk {
    /// Reads the payloads of the chunk's requested events from the database, and adds them to the
    /// chunk.
    pub(crate) fn with_payloads(mut self, bodies: &mut Bodies<'_>) -> Result<Self> {
        if let (Some(first), Some(last)) = (self.events.first(), self.events.last()) {
            let range = first.at..last.at.saturating_add(last.len);
            let body = Body::read(bodies, self.outline.k, self.codec, range, self.len)?;
            self.body = Some(body.map_err(|message| table::damaged(self.outline.k, &message))?);
        }
        Ok(self)
    }

    /// Returns the chunk's requested events with their payloads, and the stored checksum of each
    /// payload. Does not check whether the payloads match their checksums.
    fn unchecked(self) -> impl Iterator<Item = Result<(Row, u32)>> {
        let body = self.body;
        self.events.into_iter().map(move |Placed { mut row, at, len, sum }| {
            let payload = body.as_ref().and_then(|body| body.unchecked(at, len));
            let missing = || Fault::damaged(row::location(row.k), "its payload is not there");
            row.event.data = payload.ok_or_else(missing)?;
            Ok((row, sum))
        })
    }

    /// Returns the chunk's requested events in the order of `direction`, with their payloads if
    /// those were read.
    pub(crate) fn rows(self, direction: Direction) -> impl Iterator<Item = Result<Row>> {
        let mut events = self.events;
        if direction == Direction::Backward {
            events.reverse();
        }
        let body = self.body;
        events.into_iter().map(move |Placed { mut row, at, len, sum }| {
            if let Some(body) = &body {
                let payload = body.payload(at, len, sum);
                let damaged = |message: String| Fault::damaged(row::location(row.k), &message);
                row.event.data = payload.map_err(damaged)?;
            }
            Ok(row)
        })
    }
}

//! Chunks: up to 64 events of a segment in one row.
//!
//! An event is first stored in a row of its own. Once enough adjacent events have such rows, they
//! are sealed: one chunk replaces their rows. No event is ever added to a chunk. A chunk is written
//! again only to compress its payloads or to erase events.

mod body;
mod buffer;
mod cursor;
mod envelopes;
mod outline;
mod run;
mod table;

use forklore_core::Data;
use forklore_store::port::Direction;

pub(crate) use self::body::{Bodies, Codec};
pub(crate) use self::outline::Outline;
pub(crate) use self::run::{runs, write_run};
pub(crate) use self::table::{
    Sealed, end, erase_from, erase_own, first, one, overlap, plain, prepare, read, sum_of, take_out,
};

use self::body::Body;
use self::envelopes::{Heads, Names};
use crate::fault::{Fault, Result};
use crate::row::{Row, Slot, Visitor};
use crate::row_key::Next;

/// A chunk (up to 64 consecutive events in one row) that was read. The checksum of its row was
/// correct. Each event is decoded, and the checksum of its payload is checked, when that event is
/// returned.
pub(crate) struct Chunk<'r> {
    pub(crate) outline: Outline,
    pub(crate) codec: Codec,
    /// The checksum that the chunk's row had when it was read. Another process may change the row.
    /// A later write therefore replaces the row only if its current checksum equals this one.
    pub(crate) sum: u32,
    /// The events of the chunk that the caller requested, with one bit per position. All of them
    /// are stored in the chunk.
    requested: u64,
    names: Names<'r>,
    heads: Heads<'r>,
    body: Option<Body>,
}

impl Chunk<'_> {
    /// Reads the payloads of the chunk's requested events from the database, and adds them to the
    /// chunk.
    pub(crate) fn with_payloads(mut self, bodies: &mut Bodies<'_>) -> Result<Self> {
        if self.requested == 0 {
            return Ok(self);
        }
        let k = self.outline.k;
        let damaged = |message: String| table::damaged(k, &message);
        let (range, len) = if self.codec == Codec::Plain && self.requested == self.outline.all() {
            (0..usize::MAX, usize::MAX)
        } else {
            let whole = self.codec == Codec::Zstd;
            self.heads.seek(self.requested, whole).map_err(damaged)?
        };
        let body = Body::read(bodies, k, self.codec, range, len)?;
        self.body = Some(body.map_err(damaged)?);
        Ok(self)
    }

    /// Decodes the next requested event. Returns whether there is one.
    #[inline]
    fn next(&mut self) -> Result<bool> {
        while self.requested != 0 {
            let position = self.heads.next().map_err(|message| self.damaged(message))?;
            let Some(position) = position else { break };
            let bit = 1 << position;
            if self.requested & bit != 0 {
                self.requested &= !bit;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn damaged(&self, message: &str) -> Fault {
        table::damaged(self.outline.k, message)
    }

    /// Returns the chunk's requested events with their payloads, and the stored checksum of each
    /// payload. Does not check whether the payloads match their checksums.
    fn unchecked(mut self) -> Result<Vec<(Row, u32)>> {
        let mut rows = Vec::new();
        while self.next()? {
            let (at, len, sum) = (self.heads.at(), self.heads.len(), self.heads.sum());
            let payload = self.body.as_ref().and_then(|body| body.unchecked(at, len));
            let missing = || Fault::damaged(self.heads.location(), "its payload is not there");
            let data = payload.ok_or_else(missing)?;
            let chunk = self.outline.k;
            let damaged = |message: &str| table::damaged(chunk, message);
            let Slot { k, counts, origin } = self.heads.slot();
            let event = self.heads.event(&mut self.names, damaged, |_| Ok(data))?;
            rows.push((Row { k, counts, origin, event }, sum));
        }
        Ok(rows)
    }

    /// Visits the chunk's requested events in the order of `direction`, with their payloads if
    /// those were read. Stops early if the visitor returns [`Next::Stop`]. Returns what the visitor
    /// returned last.
    #[inline]
    pub(crate) fn visit(
        mut self,
        direction: Direction,
        visitor: &mut impl Visitor,
    ) -> Result<Next> {
        let mut later = Vec::new();
        while direction == Direction::Backward && self.next()? {
            later.push(self.heads.clone());
        }
        let mut next = Next::Row;
        while next != Next::Stop {
            if let Some(heads) = later.pop() {
                self.heads = heads;
            } else if !self.next()? {
                break;
            }
            next = self.last(visitor)?;
        }
        Ok(next)
    }

    /// Visits the event that was decoded last.
    #[inline(always)]
    fn last(&mut self, visitor: &mut impl Visitor) -> Result<Next> {
        let Self { outline, heads, names, body, .. } = self;
        let damaged = |message: &str| table::damaged(outline.k, message);
        visitor.event(heads.slot(), || {
            heads.event(names, damaged, |heads| match body {
                None => Ok(Data::null()),
                Some(body) => body
                    .payload(heads.at(), heads.len(), heads.sum())
                    .map_err(|message| Fault::damaged(heads.location(), &message)),
            })
        })
    }
}

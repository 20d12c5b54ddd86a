//! Chunks: up to 64 events of a segment in one row.
//!
//! Events come as rows of their own and are sealed into chunks once enough stand together. A chunk
//! is never added to; what it holds changes only when events are erased.

mod body;
mod heads;
mod outline;
mod table;

use forklore_store::port::Direction;

pub(crate) use self::body::Codec;
pub(crate) use self::outline::{Outline, POSITIONS};
pub(crate) use self::table::{
    Sealed, end, erase_from, erase_own, first, one, overlap, plain, prepare, read, sum_of,
};

use self::body::Body;
use self::heads::Placed;
use crate::fault::{Fault, Result};
use crate::row::{self, Row};

/// A chunk that was read and fits its checksum; its payloads are checked one by one.
pub(crate) struct Chunk {
    pub(crate) outline: Outline,
    pub(crate) codec: Codec,
    /// Its checksum, by which it is found unchanged.
    pub(crate) sum: u32,
    events: Vec<Placed>,
    body: Option<Body>,
}

impl Chunk {
    /// The events that are asked for, in the order of `direction`, with their payloads if it was
    /// read with them.
    pub(crate) fn rows(
        self,
        direction: Direction,
        asked: impl Fn(&Row) -> bool,
    ) -> impl Iterator<Item = Result<Row>> {
        let mut events = self.events;
        events.retain(|placed| asked(&placed.row));
        if direction == Direction::Backward {
            events.reverse();
        }
        let body = self.body;
        events.into_iter().map(move |Placed { mut row, at, len, sum }| {
            if let Some(body) = &body {
                let payload = body.payload(at, len, sum);
                let damaged = |message: String| Fault::damaged(row::place(row.k), &message);
                row.event.data = payload.map_err(damaged)?;
            }
            Ok(row)
        })
    }
}

//! The end of a segment: counts the events added to it, writes them, and seals full blocks.
//!
//! The positions of a segment are divided into blocks of 64. The transaction that fills a block
//! seals it: it moves the events of the block into chunks (rows with several events), usually one.
//! Large payloads keep rows of their own, and so do the events of the last block until it is full.
//! If a batch fills a whole block, its events are written as a chunk at once.

use forklore_core::{Counts, Event, OpenCalls};
use forklore_store::Error;

use crate::chunk::{Codec, runs, write_run};
use crate::fault::Result;
use crate::row::{self, Row};
use crate::row_key::position;
use crate::segment::{self, Segment};
use crate::session::Session;
use crate::write_tx::WriteTx;

/// Minimum size in bytes of a payload that an append never moves into a chunk. A chunk would save
/// little space for it, and moving it would write the payload a second time.
const LARGE: usize = 32 << 10;

/// The tool calls that are open (without a result) after the last event. Contains only their number
/// if none of the events to be added changes which calls are open.
pub(crate) enum Open {
    Calls(OpenCalls),
    Unchanged(u64),
}

/// Appends events to a session. Collects them as rows, computes the session's new counts, and
/// writes the rows at the end of the session's segment (its own events, stored together).
pub(crate) struct Tail {
    segment: Segment,
    inherited: Counts,
    counts: Counts,
    position: u64,
    bytes: u64,
    pub(crate) open: Open,
    /// Events that were added and are not written yet.
    rows: Vec<Row>,
}

impl Tail {
    /// Prepares appends after the last event of an existing session. `counts` are the counts of its
    /// history, `inherited` those of its inherited part, and `position` is the position of the next
    /// event.
    pub(crate) fn new(segment: Segment, inherited: Counts, counts: Counts, position: u64) -> Self {
        let open = match counts.open {
            0 => Open::Calls(OpenCalls::default()),
            open => Open::Unchanged(open),
        };
        Self { segment, inherited, counts, position, bytes: 0, open, rows: Vec::new() }
    }

    /// Prepares appends to a new child, which has no events of its own yet. `open` are the tool
    /// calls without a result at the end of its inherited events.
    pub(crate) fn after_inherited(segment: Segment, inherited: Counts, open: OpenCalls) -> Self {
        let open = Open::Calls(open);
        Self { open, ..Self::new(segment, inherited, inherited, 0) }
    }

    /// Adds the event `session_fork` to a new child. It has seq 0 and comes before the inherited
    /// events.
    pub(crate) fn push_fork(&mut self, event: &Event) -> Result<()> {
        self.put(event, Counts::default())
    }

    pub(crate) fn push(&mut self, event: &Event) -> Result<()> {
        let before = self.counts;
        self.counts = match &mut self.open {
            Open::Calls(open) => {
                open.step(&event.effect);
                before.after(event, open)
            }
            Open::Unchanged(open) => {
                Counts { open: *open, ..before.after(event, &OpenCalls::default()) }
            }
        };
        self.put(event, self.within())
    }

    fn put(&mut self, event: &Event, counts: Counts) -> Result<()> {
        if self.position >= segment::LAST_POSITION {
            return Err(Error::Invalid("the session has no room for another event".into()).into());
        }
        let k = segment::key(self.segment, self.position);
        self.rows.push(Row { k, counts, origin: None, event: event.clone() });
        self.position += 1;
        self.bytes += event.data.get().len() as u64;
        Ok(())
    }

    /// Returns the counts of the session's own events, without the inherited ones.
    fn within(&self) -> Counts {
        let Counts { inheritable: stored, index, turns, bytes, open } = self.counts;
        let base = &self.inherited;
        Counts {
            inheritable: stored - base.inheritable,
            index: index - base.index,
            turns: turns - base.turns,
            bytes: bytes - base.bytes,
            open,
        }
    }

    /// Writes the added events, and updates the counts in `session.header`. Does not write the
    /// header's row.
    pub(crate) fn end(&self, tx: &WriteTx<'_>, session: &mut Session) -> Result<()> {
        write(tx, &self.rows)?;
        session.header.counts = self.counts;
        session.header.own_events = self.position;
        session.header.own_bytes += self.bytes;
        Ok(())
    }
}

/// Appends consecutive events at the end of their segment (a group of events stored together).
/// Positions are divided into blocks of `chunk_events`. The events of each block that becomes
/// complete move into chunks, apart from large events.
pub(crate) fn write(tx: &WriteTx<'_>, rows: &[Row]) -> Result<()> {
    let rest = write_blocks(tx, rows)?;
    rest.iter().try_for_each(|row| row::insert(tx, row))
}

/// Appends the last events of a segment that will never grow. The events of its last block move
/// into chunks too, although the block is incomplete.
pub(crate) fn write_last(tx: &WriteTx<'_>, rows: &[Row]) -> Result<()> {
    let rest = write_blocks(tx, rows)?;
    fill_block(tx, rest)
}

/// Appends events up to the end of the last block of `chunk_events` positions that they complete.
/// Returns the events after that block, which are not written.
fn write_blocks<'r>(tx: &WriteTx<'_>, rows: &'r [Row]) -> Result<&'r [Row]> {
    let mut rest = rows;
    while let Some(first) = rest.first() {
        let free = tx.chunk_events - position(first.k) % tx.chunk_events;
        let Some((filling, behind)) = rest.split_at_checked(usize::try_from(free).unwrap_or(1))
        else {
            break;
        };
        fill_block(tx, filling)?;
        rest = behind;
    }
    Ok(rest)
}

/// Appends the last events of a block of `chunk_events` positions. Moves the events of the block
/// into chunks, apart from large events.
fn fill_block(tx: &WriteTx<'_>, rows: &[Row]) -> Result<()> {
    let earlier = match unsealed(tx, rows) {
        Ok(earlier) => earlier,
        // The earlier events of the block cannot be read. They stay in their rows, and the new
        // events get rows of their own.
        Err(fault) if fault.is_of_one_row() => {
            return rows.iter().try_for_each(|row| row::insert(tx, row));
        }
        Err(fault) => return Err(fault),
    };
    let new = rows.first().map_or(0, |row| row.k);
    let all: Vec<&Row> = earlier.iter().chain(rows).collect();
    for run in runs(&all, LARGE) {
        if run.len() < 2 || write_run(tx, run, Codec::Plain)? == 0 {
            run.iter().filter(|row| row.k >= new).try_for_each(|row| row::insert(tx, row))?;
        }
    }
    Ok(())
}

/// Returns the stored events that precede `rows` in the same block of `chunk_events` positions.
/// Each has a row of its own until the block is complete and becomes a chunk.
fn unsealed(tx: &WriteTx<'_>, rows: &[Row]) -> Result<Vec<Row>> {
    let Some(first) = rows.first().map(|row| row.k) else { return Ok(Vec::new()) };
    let (segment, to) = (segment::of(first), position(first));
    let block = segment::key(segment, to - to % tx.chunk_events);
    row::between(tx, block, first)
}

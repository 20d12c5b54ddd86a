//! Sealing: decides which events of a segment move together into one chunk row, and when.
//!
//! The positions of a segment are divided into blocks of 64. The transaction that fills a block
//! seals it. Apart from large payloads, only the events of the last block therefore have rows of
//! their own. The events of a large batch are never written as single rows.

use crate::chunk::{Codec, Sealed};
use crate::fault::Result;
use crate::key::{CHUNK_BYTES, POSITIONS, position};
use crate::row::{self, Row};
use crate::segment;
use crate::write::WriteTx;

/// An event whose payload has at least this many bytes stays in a row of its own. A chunk would
/// save little space for it, and moving it would write the payload a second time.
const LARGE: usize = 32 << 10;
/// Appends consecutive events at the end of their segment, and seals each block that they fill.
pub(crate) fn add(tx: &WriteTx<'_>, rows: &[Row]) -> Result<()> {
    let mut rest = rows;
    while let Some(first) = rest.first() {
        let free = tx.chunk_events - position(first.k) % tx.chunk_events;
        let Some((filling, behind)) = rest.split_at_checked(usize::try_from(free).unwrap_or(1))
        else {
            break;
        };
        fill(tx, filling)?;
        rest = behind;
    }
    rest.iter().try_for_each(|row| row::insert(tx, row))
}

/// Appends the events that complete a block, and seals it.
fn fill(tx: &WriteTx<'_>, rows: &[Row]) -> Result<()> {
    let earlier = match waiting(tx, rows) {
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
        if run.len() < 2 || move_run(tx, run, Codec::Plain)? == 0 {
            run.iter().filter(|row| row.k >= new).try_for_each(|row| row::insert(tx, row))?;
        }
    }
    Ok(())
}

/// Writes the events of a run as one chunk, and erases their rows. Returns the number of events, or
/// 0 if they cannot form a chunk.
pub(crate) fn move_run(tx: &WriteTx<'_>, run: &[&Row], codec: Codec) -> Result<u64> {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return Ok(0) };
    let Some(sealed) = Sealed::of(run, codec) else { return Ok(0) };
    row::erase(tx, first.k, last.k)?;
    sealed.insert(tx)?;
    Ok(run.len() as u64)
}

/// Returns the earlier events of the block to which `rows` belong. They have one row each until
/// the block is full and becomes a chunk.
fn waiting(tx: &WriteTx<'_>, rows: &[Row]) -> Result<Vec<Row>> {
    let Some(first) = rows.first().map(|row| row.k) else { return Ok(Vec::new()) };
    let (segment, to) = (segment::of(first), position(first));
    let block = segment::key(segment, to - to % tx.chunk_events);
    row::between(tx, block, first)
}

/// Divides rows into runs, each of which fits into one chunk. An event whose payload has `large`
/// bytes or more forms a run of its own.
pub(crate) fn runs<'r, 's>(
    rows: &'s [&'r Row],
    large: usize,
) -> impl Iterator<Item = &'s [&'r Row]> {
    let (mut bytes, mut events) = (0, 1);
    rows.chunk_by(move |row, next| {
        let (len, more) = (row.event.data.get().len(), next.event.data.get().len());
        bytes += len;
        events += 1;
        let together = next.k == row.k + 1
            && events <= POSITIONS
            && len.max(more) < large
            && bytes + more <= CHUNK_BYTES;
        if !together {
            (bytes, events) = (0, 1);
        }
        together
    })
}

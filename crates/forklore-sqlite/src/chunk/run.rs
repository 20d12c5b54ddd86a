//! Runs: adjacent rows that fit into one chunk, and how a run becomes that chunk.

use forklore_core::redaction::may_be_redacted;

use super::{Codec, Sealed};
use crate::fault::Result;
use crate::row::{self, Row};
use crate::row_key::{CHUNK_BYTES, POSITIONS};
use crate::write_tx::WriteTx;

/// Divides rows into groups of adjacent rows, each of which fits into one chunk. An event whose
/// payload has `large` bytes or more forms a group of its own, and so does a redacted event.
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
            && !may_be_redacted(&row.event.data)
            && !may_be_redacted(&next.event.data)
            && bytes + more <= CHUNK_BYTES;
        if !together {
            (bytes, events) = (0, 1);
        }
        together
    })
}

/// Replaces adjacent event rows by one chunk row. Returns the number of events, or 0 if they cannot
/// form a chunk; then nothing changes.
pub(crate) fn write_run(tx: &WriteTx<'_>, run: &[&Row], codec: Codec) -> Result<u64> {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return Ok(0) };
    let Some(sealed) = Sealed::of(run, codec) else { return Ok(0) };
    row::erase(tx, first.k, last.k)?;
    sealed.insert(tx)?;
    Ok(run.len() as u64)
}

//! Finds the event of a segment at which a running count reaches a given value.

use forklore_core::lineage::Unit;
use rusqlite::Connection;

use crate::fault::Result;
use crate::segment::{self, Range};

/// Returns the position of the event at which the segment's count of `unit` reaches `want`. The
/// search interpolates between counts that it has already read. Every third step halves the
/// interval instead, so that the search takes O(log n) steps even if the counts grow unevenly.
pub(crate) fn search(
    conn: &Connection,
    range: Range,
    unit: Unit,
    want: u64,
    total: u64,
) -> Result<Option<u64>> {
    let (mut low, mut high) = (range.from, range.to);
    let (mut below, mut above) = (0, total);
    let mut found = None;
    let mut step = 0;
    while low < high {
        step += 1;
        let middle = if step % 3 == 0 || above <= below {
            low + (high - low) / 2
        } else {
            let (part, whole) = (u128::from(want.saturating_sub(below)), u128::from(above - below));
            let guess = u128::from(high - low) * part / whole;
            (low + u64::try_from(guess).unwrap_or(high)).saturating_sub(1).clamp(low, high - 1)
        };
        match segment::probe(conn, range.segment, middle, high, unit)? {
            Some(run) if run.count() < want => (low, below) = (run.to, run.count()),
            Some(run) if run.before < want => {
                return Ok(run.reaching(want).filter(|at| (range.from..range.to).contains(at)));
            }
            Some(run) => {
                (high, above) = (middle.min(run.from), run.before);
                found = Some(run.from);
            }
            None => high = middle,
        }
    }
    Ok(found)
}

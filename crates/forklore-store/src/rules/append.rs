//! The rules of appends: their preconditions, the detection of repeated appends, and their results.

use std::ops::RangeInclusive;

use forklore_core::{EventId, Header};
use jiff::Timestamp;

use super::check_writer;
use crate::error::{Error, Result};
use crate::port::{Append, Appended};

/// Returns the seqs at which an earlier append would have written the events of `append`. They are
/// the seqs directly after the expected head, one for each event. Returns `None` if `append` cannot
/// repeat an earlier append: it expects no head, or not all of these seqs belong to the session's
/// own events. A child's `session_fork` (the record of its fork) does not count as own here
/// (docs/semantics.md, Writing).
///
/// # Errors
/// `Invalid` if the append has no events.
pub fn repeated_seqs(header: &Header, append: &Append) -> Result<Option<RangeInclusive<u64>>> {
    if append.events.is_empty() {
        return Err(Error::Invalid("an append needs an event".into()));
    }
    let expected = append.expect.and_then(|expect| u64::try_from(expect.checked_add(1)?).ok());
    let is_own = |from: &u64| header.parent_id.is_none() || *from > header.inherited.inheritable;
    let Some(from) = expected.filter(is_own) else { return Ok(None) };
    let to = from.saturating_add(append.events.len() as u64 - 1);
    let is_there = i64::try_from(to).is_ok_and(|to| to <= header.head_seq());
    Ok(is_there.then_some(from..=to))
}

/// Returns the result of the earlier append that `append` repeats. `there` are the ids of the
/// stored events at `seqs`. Returns `None` if these ids differ from those of the append's events.
pub fn repetition<'e>(
    header: &Header,
    append: &Append,
    seqs: &RangeInclusive<u64>,
    there: impl Iterator<Item = &'e EventId>,
) -> Option<Appended> {
    let (from_seq, to_seq) = (*seqs.start(), *seqs.end());
    let same = there.eq(append.events.iter().map(|event| &event.id));
    let head_seq = header.head_seq();
    same.then_some(Appended { from_seq, to_seq, head_seq, repeated: true })
}

/// Checks the lease and the expected head of an append. `now` is the store's time. Do not call this
/// for a repetition of an earlier append.
///
/// # Errors
/// `Leased` if a runtime has the lease and the append names no owner; `LeaseLost` if the append
/// names an owner that does not have the lease; `Conflict`, with the actual head, if the head is
/// not the expected one.
pub fn check_append(header: &Header, append: &Append, now: Timestamp) -> Result<()> {
    check_writer(header, append.owner.as_deref(), now)?;
    let head = header.head_seq();
    match append.expect.filter(|expected| *expected != head) {
        Some(expected) => Err(Error::Conflict { session: header.id.clone(), expected, head }),
        None => Ok(()),
    }
}

/// Returns the result of an append. `before` is the head before the append, and `header` is the
/// header after the append.
#[must_use]
pub fn appended(before: i64, header: &Header) -> Appended {
    let head_seq = header.head_seq();
    let (from_seq, to_seq) = (before.saturating_add(1).unsigned_abs(), head_seq.unsigned_abs());
    Appended { from_seq, to_seq, head_seq, repeated: false }
}

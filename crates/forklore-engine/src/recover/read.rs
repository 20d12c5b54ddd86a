//! Reads past damage: if a page of events cannot be read, reads each of its events separately.

use forklore_core::{ErrorKind, Header, SessionId};
use forklore_store::port::{At, Direction, LogEntry, Query};
use forklore_store::{Error as StoreError, Store};

use crate::Result;

/// Number of events that one read fetches while no damage is found.
const PAGE: u64 = 512;

/// The result of an attempt to read the event at one seq of a damaged session.
pub(super) enum Slot {
    /// The event is readable, including its `data`.
    Whole(LogEntry),
    /// The event is readable without its `data`. The string is the reason why `data` cannot be
    /// read.
    Bare(LogEntry, String),
    /// The event cannot be read. The string is the reason.
    Lost(String),
}

/// Checks whether a store error means that some stored bytes are damaged or missing. Other data of
/// the store may then still be readable.
pub(super) fn is_damage(error: &StoreError) -> bool {
    // If the store lists a session but cannot find it, its index entry is damaged.
    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::MissingAncestor | ErrorKind::NotFound)
}

/// Reads the events whose seqs are at least `from` and less than `to`, and calls `show` with the
/// result for each seq. Damage is passed to `show` and is not an error.
///
/// # Errors
/// Returns store failures that are not damage, and the errors of `show`.
pub(super) fn slots(
    store: &dyn Store,
    id: &SessionId,
    from: u64,
    to: u64,
    show: &mut dyn FnMut(u64, Slot) -> Result<()>,
) -> Result<()> {
    let mut seq = from;
    // How many more events to read one by one because of the last damage.
    let mut careful = 0;
    while seq < to {
        let limit = if careful > 0 { 1 } else { PAGE.min(to - seq) };
        match page(store, id, seq, limit, false) {
            Ok(events) if events.is_empty() => {
                show(seq, Slot::Lost("it is not there".into()))?;
                seq += 1;
            }
            Ok(events) => {
                for event in events.into_iter().take_while(|event| event.seq < to) {
                    seq = event.seq + 1;
                    show(event.seq, Slot::Whole(event))?;
                }
                careful = u64::saturating_sub(careful, 1);
            }
            Err(error) if !is_damage(&error) => return Err(error.into()),
            Err(_) if limit > 1 => careful = limit,
            Err(error) => {
                show(seq, bare(store, id, seq, error.to_string())?)?;
                seq += 1;
                careful = u64::saturating_sub(careful, 1);
            }
        }
    }
    Ok(())
}

fn bare(store: &dyn Store, id: &SessionId, seq: u64, reason: String) -> Result<Slot> {
    match page(store, id, seq, 1, true) {
        Ok(events) => Ok(match events.into_iter().next() {
            Some(event) => Slot::Bare(event, reason),
            None => Slot::Lost(reason),
        }),
        Err(error) if is_damage(&error) => Ok(Slot::Lost(reason)),
        Err(error) => Err(error.into()),
    }
}

/// Reads at most `limit` events with consecutive seqs, the first of them `seq`.
fn page(
    store: &dyn Store,
    id: &SessionId,
    seq: u64,
    limit: u64,
    bare: bool,
) -> Result<Vec<LogEntry>, StoreError> {
    let limit = usize::try_from(limit).unwrap_or(1);
    let query = Query { at: At::Seq(seq), direction: Direction::Forward, limit, bare };
    let mut events = store.read_in_trash(id, &query)?.events;
    let whole = events.iter().zip(seq..).take_while(|(event, seq)| event.seq == *seq).count();
    events.truncate(whole);
    Ok(events)
}

/// Returns the range of seqs of a session's own events, without its `session_fork`. The first
/// number is inclusive, the second exclusive.
pub(super) fn own_seqs(header: &Header) -> (u64, u64) {
    let end = u64::try_from(header.head_seq() + 1).unwrap_or_default();
    let first = if header.parent_id.is_some() { header.inherited.inheritable + 1 } else { 0 };
    (first.min(end), end)
}

//! Reads past damage: if a page cannot be read, each of its events is read alone.

use forklore_core::{ErrorKind, Header, SessionId};
use forklore_store::port::{At, Direction, LogEntry, Query};
use forklore_store::{Error as StoreError, Store};

use crate::Result;

/// Events per read while there is no damage.
const PAGE: u64 = 512;

/// The result of reading one log position.
pub(super) enum Slot {
    /// The complete event.
    Whole(LogEntry),
    /// The event without its `data`, and the reason why the data cannot be read.
    Bare(LogEntry, String),
    /// No event, and the reason.
    Lost(String),
}

/// Checks whether an error means damaged or missing bytes, so that other data may still be
/// readable.
pub(super) fn is_damage(error: &StoreError) -> bool {
    // A session that is listed but not found has a damaged index entry.
    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::MissingAncestor | ErrorKind::NotFound)
}

/// Calls `show` for each position from `from` to `to`, excluding `to`.
///
/// # Errors
/// Store failures that are not damage, and the errors of `show`.
pub(super) fn slots(
    store: &dyn Store,
    id: &SessionId,
    from: u64,
    to: u64,
    show: &mut dyn FnMut(u64, Slot) -> Result<()>,
) -> Result<()> {
    let mut seq = from;
    // Number of events still to be read one by one after the last damage.
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

/// Reads the events from `seq` on, up to the first gap.
fn page(
    store: &dyn Store,
    id: &SessionId,
    seq: u64,
    limit: u64,
    bare: bool,
) -> Result<Vec<LogEntry>, StoreError> {
    let limit = usize::try_from(limit).unwrap_or(1);
    let query = Query { at: At::Seq(seq), direction: Direction::Forward, limit, bare };
    let mut events = store.read(id, &query)?.events;
    let whole = events.iter().zip(seq..).take_while(|(event, seq)| event.seq == *seq).count();
    events.truncate(whole);
    Ok(events)
}

/// Returns the range of seqs of a session's own events, without its `session_fork`: the first, and
/// the one after the last.
pub(super) fn own_seqs(header: &Header) -> (u64, u64) {
    let end = u64::try_from(header.head_seq() + 1).unwrap_or_default();
    let first = if header.parent_id.is_some() { header.inherited.inheritable + 1 } else { 0 };
    (first.min(end), end)
}

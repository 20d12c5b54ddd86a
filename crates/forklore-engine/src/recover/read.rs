//! Reading past damage: whatever one event needs is asked for alone.

use forklore_core::{ErrorKind, Header, SessionId};
use forklore_store::port::{At, Direction, LogEntry, Query};
use forklore_store::{Error as StoreError, Store};

use crate::Result;

/// Events asked for at a time while all goes well.
const PAGE: u64 = 512;

/// What is found at a log position.
pub(super) enum Slot {
    /// The event.
    Whole(LogEntry),
    /// The event without its `data`, and why.
    Bare(LogEntry, String),
    /// Nothing, and why.
    Lost(String),
}

/// Whether bytes are damaged or gone, so that others may still be read.
pub(super) fn is_damage(error: &StoreError) -> bool {
    // What was listed and is not found has lost its way there.
    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::MissingAncestor | ErrorKind::NotFound)
}

/// Shows what is at the positions `from` to `to`, without the last.
///
/// # Errors
/// Failures that are no damage, and those of `show`.
pub(super) fn slots(
    store: &dyn Store,
    id: &SessionId,
    from: u64,
    to: u64,
    show: &mut dyn FnMut(u64, Slot) -> Result<()>,
) -> Result<()> {
    let mut seq = from;
    // How many events are still read one by one behind the last damage.
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

/// Events from `seq` on without a gap.
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

/// The seqs of a session's own events behind its `session_fork`: the first, and the one behind the
/// last.
pub(super) fn own_seqs(header: &Header) -> (u64, u64) {
    let end = u64::try_from(header.head_seq() + 1).unwrap_or_default();
    let first = if header.parent_id.is_some() { header.inherited.inheritable + 1 } else { 0 };
    (first.min(end), end)
}

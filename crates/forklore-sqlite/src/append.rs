//! Appends events after a session's head.

use std::borrow::Cow;

use forklore_core::{Event, SessionId};
use forklore_store::feed::What;
use forklore_store::port::{Append, Appended};
use forklore_store::rules::{appended, check_append, repeated_seqs, repetition};
use jiff::{SignedDuration, Timestamp};

use crate::fault::Result;
use crate::feed;
use crate::history::History;
use crate::integer::signed;
use crate::read::open_calls;
use crate::row::stored_counts;
use crate::segment;
use crate::session::{self, Session};
use crate::tail::{Open, Tail};
use crate::write_tx::WriteTx;

/// Maximum difference between a session's columns `fresh_until` and `updated`. `fresh_until` is an
/// upper bound of `updated` and has an index. The bound rarely changes, so most appends need not
/// write the index.
pub(crate) const FRESH: SignedDuration = SignedDuration::from_secs(60);

/// Appends the events of `append` to the session. If an earlier call already appended the same
/// events, returns the result of that call and writes nothing.
pub(crate) fn append(tx: &WriteTx<'_>, id: &SessionId, append: &Append) -> Result<Appended> {
    let mut session = session::living(tx, id)?;
    let header = &session.header;
    let head = header.head_seq();
    if let Some(seqs) = repeated_seqs(header, append)? {
        // A root's first event has position 0 in its segment. In a child, position 0 is its
        // `session_fork`, and the first event after the inherited ones has position 1.
        let inherited = if header.parent_id.is_none() { 0 } else { header.inherited.inheritable };
        let position = seqs.start() - inherited;
        let there = segment::ids(tx, session.sid, position, append.events.len())?;
        if let Some(earlier) = repetition(header, append, &seqs, there.iter()) {
            return Ok(earlier);
        }
    }
    check_append(header, append, tx.now)?;
    let (counts, position) = (header.counts, header.own_events);
    let mut tail = Tail::new(session.sid, header.inherited, counts, position);
    if counts.open > 0 && append.events.iter().any(changes_calls) {
        let history = History::of(tx, Cow::Borrowed(&session))?;
        tail.open = Open::Calls(open_calls(tx, &history, head)?);
    }
    append.events.iter().try_for_each(|event| tail.push(event))?;
    session.header.usage += append.usage;
    let updated = append.now.min(tx.now);
    session.fresh_until = fresh_until(&session, updated);
    session.header.updated = updated;
    tail.end(tx, &mut session)?;
    update(tx, &mut session)?;
    Ok(appended(head, &session.header))
}

fn changes_calls(event: &Event) -> bool {
    event.effect.starts_turn || !event.effect.calls.is_empty()
}

/// Returns the new value of the column `fresh_until`, an upper bound of the time of the session's
/// last update. A bound before `now`, or more than a minute after it, is replaced by a time up to a
/// minute in the future (less for a young session). Most appends therefore leave the column
/// unchanged and need not write its index.
fn fresh_until(session: &Session, now: Timestamp) -> Timestamp {
    let bound = session.fresh_until;
    if now <= bound && bound.duration_since(now) <= FRESH {
        return bound;
    }
    let age = now.duration_since(session.header.created);
    now.checked_add(age.clamp(SignedDuration::ZERO, FRESH)).unwrap_or(now)
}

/// Writes the changed counts, usage and time of a session to its row, after an append.
fn update(tx: &WriteTx<'_>, session: &mut Session) -> Result<()> {
    let header = &session.header;
    let [stored, index, turns, bytes, open] = stored_counts(&header.counts);
    let usage = header.usage;
    let (own_events, own_bytes) = (signed(header.own_events), signed(header.own_bytes));
    let updated = header.updated.as_microsecond();
    feed::update(
        tx,
        session,
        What::Appended,
        "UPDATE session SET kept = ?, idx = ?, turns = ?, bytes = ?, open = ?, own_events = ?,
             own_bytes = ?, updated = ?, usage_input = ?, usage_output = ?, usage_cached = ?,
             usage_cost = ?, feed_appended = ?, crc = ? WHERE sid = ?",
        &[
            &stored,
            &index,
            &turns,
            &bytes,
            &open,
            &own_events,
            &own_bytes,
            &updated,
            &signed(usage.input),
            &signed(usage.output),
            &signed(usage.cached),
            &usage.cost,
        ],
    )?;
    // `fresh_until` has a statement of its own because SQLite writes the index of every column
    // that an `UPDATE` names, even if the value is unchanged.
    tx.write(
        "UPDATE session SET fresh_until = ?2 WHERE sid = ?1 AND fresh_until <> ?2",
        &[&session.sid, &session.fresh_until.as_microsecond()],
    )?;
    Ok(())
}

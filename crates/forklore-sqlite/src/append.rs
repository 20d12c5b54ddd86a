//! Appends events after a session's head.

use std::borrow::Cow;

use forklore_core::{Counts, Event, OpenCalls, SessionId};
use forklore_store::Error;
use forklore_store::feed::What;
use forklore_store::port::{Append, Appended};
use forklore_store::rules::{appended, check_append, repeated_seqs, repetition};
use jiff::{SignedDuration, Timestamp};

use crate::fault::Result;
use crate::feed;
use crate::locate::History;
use crate::number::signed;
use crate::pack_rows;
use crate::read::open_calls;
use crate::row::{Row, stored_counts};
use crate::segment::{self, Segment};
use crate::session::{self, Session};
use crate::write::WriteTx;

/// Maximum time by which `fresh_until`, the indexed upper bound, may be later than `updated`.
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
    tail.close(tx, &mut session)?;
    Ok(appended(head, &session.header))
}

fn changes_calls(event: &Event) -> bool {
    event.effect.starts_turn || !event.effect.calls.is_empty()
}

/// Returns the value of `fresh_until` to store: an upper bound of `updated`. In a busy session the
/// bound increases in growing steps of at most a minute. Most appends therefore leave it unchanged
/// and do not write its index.
fn fresh_until(session: &Session, now: Timestamp) -> Timestamp {
    let bound = session.fresh_until;
    if now <= bound && bound.duration_since(now) <= FRESH {
        return bound;
    }
    let age = now.duration_since(session.header.created);
    now.checked_add(age.clamp(SignedDuration::ZERO, FRESH)).unwrap_or(now)
}

/// The calls that are open after the last event: the calls themselves, or only their number if no
/// append of this transaction changes them.
enum Open {
    Calls(OpenCalls),
    Unchanged(u64),
}

/// Appends events at the end of a session's segment: collects them as rows and updates the counts.
pub(crate) struct Tail {
    segment: Segment,
    inherited: Counts,
    counts: Counts,
    position: u64,
    bytes: u64,
    open: Open,
    /// Events that were added but not yet written.
    rows: Vec<Row>,
}

impl Tail {
    /// Returns a `Tail` after the last event of an existing session. `counts` are the counts of its
    /// history, and `position` is the position that the next event gets.
    pub(crate) fn new(segment: Segment, inherited: Counts, counts: Counts, position: u64) -> Self {
        let open = match counts.open {
            0 => Open::Calls(OpenCalls::default()),
            open => Open::Unchanged(open),
        };
        Self { segment, inherited, counts, position, bytes: 0, open, rows: Vec::new() }
    }

    /// Returns a `Tail` for a new child, which has no events of its own yet. `open` are the calls
    /// that its inherited events leave open.
    pub(crate) fn behind(segment: Segment, inherited: Counts, open: OpenCalls) -> Self {
        let open = Open::Calls(open);
        Self { open, ..Self::new(segment, inherited, inherited, 0) }
    }

    /// Adds a child's `session_fork`, which comes before the inherited events.
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

    /// Returns the counts of the segment alone, without inherited events.
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
    /// header.
    pub(crate) fn end(&self, tx: &WriteTx<'_>, session: &mut Session) -> Result<()> {
        pack_rows::add(tx, &self.rows)?;
        session.header.counts = self.counts;
        session.header.own_events = self.position;
        session.header.own_bytes += self.bytes;
        Ok(())
    }

    fn close(&self, tx: &WriteTx<'_>, session: &mut Session) -> Result<()> {
        self.end(tx, session)?;
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
}

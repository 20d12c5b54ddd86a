//! Takes the content of stored events away (docs/semantics.md, Redaction). `gc` later removes the
//! old bytes from the store's files.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use forklore_core::redaction::REDACTED_PREFIX;
use forklore_core::{Event, Origin, SessionId, Strategy};
use forklore_store::Error;
use forklore_store::feed::What;
use forklore_store::port::{Direction, EventRedaction, Redacted, Redactions};
use forklore_store::rules::{is_redacted_by, lease_of_other};
use rusqlite::Connection;

use crate::fault::Result;
use crate::private_segment;
use crate::row::{self, Row};
use crate::segment::{self, Range, Segment, Wanted, key, position};
use crate::session::{self, Session};
use crate::write_tx::WriteTx;
use crate::{ancestry, chunk, copy, feed, operation, sources};

/// Replaces payloads, and removes titles and the stored bytes of sources.
pub(crate) fn redact(tx: &WriteTx<'_>, write: &Redactions) -> Result<Redacted> {
    let mut writers = HashMap::new();
    for one in &write.events {
        let id = &one.origin.session_id;
        if !writers.contains_key(id) {
            let session = session::any(tx, id)?;
            if let Some(lease) = lease_of_other(&session.header, None, tx.now) {
                let owner = lease.owner.clone();
                return Err(Error::Leased { session: id.clone(), owner }.into());
            }
            writers.insert(id.clone(), session);
        }
    }
    let mut done = Redacted::default();
    let mut replaced: BTreeSet<Origin> = BTreeSet::new();
    let mut changed: BTreeSet<Segment> = BTreeSet::new();
    for one in &write.events {
        let Some(session) = writers.get(&one.origin.session_id) else { continue };
        let position = own_position(session, one.origin.seq);
        tx.begin_part();
        if replace(tx, session.sid, position, one)? {
            changed.insert(session.sid);
            replaced.insert(one.origin.clone());
        }
    }
    let roots: BTreeSet<_> = writers.values().map(|session| session.root).collect();
    for root in roots {
        let origins = origins(&writers, &write.events, root);
        for segment in copies(tx, root, &origins, &mut replaced)? {
            changed.extend(users(tx, root, segment)?);
        }
    }
    let origins = write.events.iter().map(|one| &one.origin);
    done.events.extend(origins.filter(|origin| replaced.remove(*origin)).cloned());
    changed.extend(titles(tx, &write.titles, &mut done)?);
    for sid in changed {
        report(tx, sid)?;
    }
    sources::forget(tx, &write.sources)?;
    if !done.events.is_empty() || !done.titles.is_empty() {
        tx.write("UPDATE upkeep SET erased = 1", &[])?;
    }
    Ok(done)
}

/// Returns the position in its segment of the own event of a session with this seq.
fn own_position(session: &Session, seq: u64) -> u64 {
    if session.parent.is_some() && seq > 0 {
        seq.saturating_sub(session.header.inherited.inheritable)
    } else {
        seq
    }
}

/// The redactions of one family, by the number of the writer and the seq there.
type Origins<'w> = BTreeMap<(Segment, u64), &'w EventRedaction>;

fn origins<'w>(
    writers: &HashMap<SessionId, Session>,
    events: &'w [EventRedaction],
    root: Segment,
) -> Origins<'w> {
    let writer = |one: &EventRedaction| {
        writers.get(&one.origin.session_id).filter(|session| session.root == root)
    };
    let keyed = events.iter().filter_map(|one| Some(((writer(one)?.sid, one.origin.seq), one)));
    keyed.collect()
}

/// Replaces payloads in the private copies of a family. Returns the copies that changed. Erases
/// unfinished copies, because their writers may have read the payloads already; they begin anew.
fn copies(
    tx: &WriteTx<'_>,
    root: Segment,
    origins: &Origins<'_>,
    replaced: &mut BTreeSet<Origin>,
) -> Result<Vec<Segment>> {
    let mut changed = Vec::new();
    for private in private_segment::all(tx)?.into_iter().filter(|private| private.root == root) {
        if private.heartbeat.is_some() {
            copy::erase(tx, private.segment)?;
            continue;
        }
        let mut found = Vec::new();
        let range = Range { segment: private.segment, from: 0, to: u64::MAX, inherited: false };
        tx.begin_part();
        segment::visit(tx, range, Direction::Forward, Wanted::BARE, |row| {
            let one = row.origin.and_then(|origin| origins.get(&origin));
            found.extend(one.map(|one| (position(row.k), *one)));
            Ok(segment::Next::Row)
        })?;
        let mut is_changed = false;
        for (position, one) in found {
            tx.begin_part();
            if replace(tx, private.segment, position, one)? {
                is_changed = true;
                replaced.insert(one.origin.clone());
            }
        }
        changed.extend(is_changed.then_some(private.segment));
    }
    Ok(changed)
}

/// Returns the sessions whose copy of what they inherit is this segment.
fn users(tx: &WriteTx<'_>, root: Segment, segment: Segment) -> Result<Vec<Segment>> {
    let sql = "SELECT sid FROM session WHERE root = ? AND (detached = 1 OR strategy = 1)";
    let mut statement = tx.prepare_cached(sql)?;
    let sids = statement.query_map([root], |row| row.get(0))?;
    let sids: Vec<Segment> = sids.collect::<rusqlite::Result<_>>()?;
    let mut found = Vec::new();
    for sid in sids {
        let spans = ancestry::load(tx, sid)?.spans;
        found
            .extend(spans.iter().any(|span| span.segment == segment.unsigned_abs()).then_some(sid));
    }
    Ok(found)
}

/// Replaces the payload of the event at a position of a segment. Returns whether it did: not if
/// there is no event, or a redacted one. The event then has a row of its own.
fn replace(
    tx: &WriteTx<'_>,
    segment: Segment,
    position: u64,
    one: &EventRedaction,
) -> Result<bool> {
    let k = key(segment, position);
    let row = match row::between(tx, k, k + 1)?.pop() {
        Some(row) => row,
        None => match chunk::take_out(tx, k)? {
            Some(row) => row,
            None => return Ok(false),
        },
    };
    let is_replaced = is_redacted_by(&row.event, one)?;
    let data = if is_replaced { one.data.clone() } else { row.event.data.clone() };
    row::erase(tx, k, k)?;
    row::insert(tx, &Row { event: Event { data, ..row.event }, ..row })?;
    Ok(is_replaced)
}

/// Removes the titles of sessions. Returns the sessions that had one.
fn titles(tx: &WriteTx<'_>, ids: &[SessionId], done: &mut Redacted) -> Result<Vec<Segment>> {
    let mut changed = Vec::new();
    for id in ids {
        let mut session = session::unerased(tx, id)?;
        if session.header.title.take().is_some() {
            let sql = "UPDATE session SET title = NULL, feed_changed = ?, crc = ? WHERE sid = ?";
            feed::update(tx, &mut session, What::Changed, sql, &[])?;
            changed.push(session.sid);
            done.titles.push(id.clone());
        }
    }
    operation::forget_names_of(tx, &done.titles.iter().collect())?;
    Ok(changed)
}

/// Reports a session in the feed as created, so that readers read it again.
fn report(tx: &WriteTx<'_>, sid: Segment) -> Result<()> {
    let mut session = session::numbered(tx, sid)?;
    let (what, sql) = if session.header.deleted.is_some() {
        (What::Changed, "UPDATE session SET feed_changed = ?, crc = ? WHERE sid = ?")
    } else {
        (What::Created, "UPDATE session SET feed_created = ?, crc = ? WHERE sid = ?")
    };
    feed::update(tx, &mut session, what, sql, &[])
}

/// Returns the seqs of the redacted events that are stored with a session. Each has a row of its
/// own, because it is never put into a chunk.
pub(crate) fn redacted(conn: &Connection, id: &SessionId) -> Result<Vec<u64>> {
    let session = session::living(conn, id)?;
    let header = &session.header;
    let mut found = Vec::new();
    if header.detached || header.strategy == Some(Strategy::ReplayV1) {
        for span in ancestry::load(conn, session.sid)?.spans {
            let copied = redacted_in(conn, span.segment.cast_signed())?;
            found.extend(copied.into_iter().filter(|at| *at < span.to).map(|at| at + 1));
        }
    }
    let own = redacted_in(conn, session.sid)?;
    found.extend(own.into_iter().map(|position| header.seq_of_own(position)));
    found.sort_unstable();
    Ok(found)
}

fn redacted_in(conn: &Connection, segment: Segment) -> Result<Vec<u64>> {
    let sql = "SELECT k FROM event WHERE k >= ? AND k < ? AND substr(payload, 1, ?) = ? ORDER BY k";
    let (from, to) = (key(segment, 0), key(segment + 1, 0));
    let mut statement = conn.prepare_cached(sql)?;
    let length = crate::integer::signed(REDACTED_PREFIX.len() as u64);
    let keys = statement.query_map((from, to, length, REDACTED_PREFIX), |row| row.get(0))?;
    let keys: Vec<i64> = keys.collect::<rusqlite::Result<_>>()?;
    Ok(keys.into_iter().map(position).collect())
}

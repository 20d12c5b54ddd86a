//! Recognises that the store of an index was replaced by another store, or by an older copy of
//! itself.
//!
//! The index has a mark, a position in the store's feed. After an older copy of the store was put
//! back, the mark is ahead of the feed, and the store itself reports this. But after more writes,
//! the feed passes the mark, and the store no longer notices. The index therefore remembers the
//! sessions that changed last, as witnesses. A store that lacks their events is not the one that
//! the index followed.

use forklore_core::{Header, SessionId};
use forklore_store::port::{At, Direction, Query, SessionChange};
use forklore_store::{Error, Store};
use rusqlite::{Connection, Row};

use crate::fault::{Fault, Result};

/// The maximum number of witnesses: sessions that the index remembers.
const MOST: usize = 4;

/// A session as it was when the index last followed the store.
struct Witness {
    id: SessionId,
    events: i64,
    updated: String,
    head: i64,
    /// A hash of the session's last event. `None` if the session was deleted, or if there was no
    /// event that could be read.
    event: Option<String>,
}

impl Witness {
    fn of(row: &Row<'_>) -> Result<Self> {
        let id = row.get::<_, String>(0)?.parse();
        Ok(Self {
            id: id.map_err(|_| Fault::Damaged("a witness has an impossible id"))?,
            events: row.get(1)?,
            updated: row.get(2)?,
            head: row.get(3)?,
            event: row.get(4)?,
        })
    }

    /// Checks whether the store can contain a continuation of the session that this witness
    /// describes. `is_new` states whether the session changed since the witness was recorded.
    fn holds(&self, store: &dyn Store, is_new: bool) -> Result<bool> {
        let header = match store.header(&self.id) {
            Ok(header) => header,
            Err(Error::NotFound(_)) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let (events, updated) = (own_events(&header), header.updated.to_string());
        if !is_new {
            return Ok((events, updated) == (self.events, self.updated.clone()));
        }
        let Some(event) = self.event.as_deref().filter(|_| header.deleted.is_none()) else {
            return Ok(events >= self.events);
        };
        Ok(events >= self.events && event_at(store, &self.id, self.head).as_deref() == Some(event))
    }
}

fn own_events(header: &Header) -> i64 {
    i64::try_from(header.own_events).unwrap_or(i64::MAX)
}

/// Returns a hash of the event at `seq`, or `None` if the event cannot be read.
fn event_at(store: &dyn Store, session: &SessionId, seq: i64) -> Option<String> {
    let at = At::Seq(u64::try_from(seq).ok()?);
    let query = Query { at, direction: Direction::Backward, limit: 1, bare: false };
    let event = store.read(session, &query).ok()?.events.pop()?.event;
    let text = format!("{} {} {}", event.id.as_str(), event.ts, event.data.get());
    Some(blake3::hash(text.as_bytes()).to_hex().to_string())
}

/// Checks with all witnesses whether the store is the one that the index follows. `changes` are the
/// sessions that changed since the index last followed the store.
pub(crate) fn holds(
    conn: &Connection,
    store: &dyn Store,
    changes: &[SessionChange],
) -> Result<bool> {
    let mut statement =
        conn.prepare_cached("SELECT id, events, updated, head, event FROM witness")?;
    for witness in statement.query_and_then([], Witness::of)? {
        let witness = witness?;
        let is_new = changes.iter().any(|change| change.session == witness.id);
        if !witness.holds(store, is_new)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Records the last of the changed sessions as witnesses. `headers` are in the order of the
/// sessions' last commits.
pub(crate) fn remember(conn: &Connection, store: &dyn Store, headers: &[Header]) -> Result<()> {
    let first = headers.len().saturating_sub(MOST);
    for header in headers.iter().skip(first) {
        let (events, updated) = (own_events(header), header.updated.to_string());
        let head = header.head_seq();
        let living = header.deleted.is_none();
        let event = if living { event_at(store, &header.id, head) } else { None };
        let sql = "INSERT OR REPLACE INTO witness (id, events, updated, head, event)
            VALUES (?, ?, ?, ?, ?)";
        let mut statement = conn.prepare_cached(sql)?;
        statement.execute((header.id.as_str(), events, updated, head, event))?;
    }
    let sql = "DELETE FROM witness WHERE number NOT IN
        (SELECT number FROM witness ORDER BY number DESC LIMIT ?)";
    let most = i64::try_from(MOST).unwrap_or(i64::MAX);
    conn.prepare_cached(sql)?.execute([most])?;
    Ok(())
}

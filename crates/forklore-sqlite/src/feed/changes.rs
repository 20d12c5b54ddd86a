//! Reads the feed: finds the sessions that changed after a position, through the index on
//! `feed_until`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use forklore_core::SessionId;
use forklore_store::feed::{At, Position, Stamp, commit_page, list_page, listed, wait_for};
use forklore_store::port::{Changes, SessionChange, Since};
use forklore_store::{Error, Result};
use rusqlite::{Connection, OptionalExtension};

use super::{RESERVED, numbers};
use crate::fault::{self, Fault};
use crate::integer::{signed, unsigned};
use crate::segment::Segment;
use crate::session;
use crate::store::SqliteStore;

/// Returns entries of the feed (the sequence of changed sessions) after `since`, at most `limit` (0
/// means all). If there are none yet, waits up to `wait` for one.
pub(crate) fn changes(
    store: &SqliteStore,
    since: &Since,
    limit: usize,
    wait: Duration,
) -> Result<Changes> {
    if !wait.is_zero() {
        store.listen();
    }
    let mut since = since.clone();
    wait_for(store.bell(), wait, || {
        store.check_there()?;
        let page = store.read_with("reading the feed of", |conn| page(conn, &since, limit))?;
        if !page.sessions.is_empty() {
            // Without this, a power failure could undo a change that a reader has already seen, and
            // a later change would get the same number.
            store.make_durable("reading the feed of")?;
        }
        since = Since::Mark(page.mark.clone());
        Ok(page)
    })
}

fn page(conn: &Connection, since: &Since, limit: usize) -> Result<Changes, Fault> {
    if !numbers::is_there(conn)? {
        let message = "a program of before there were feeds made the store, and it was opened for \
            reading only";
        return Err(Fault::Refused(Error::Unsupported(message.into())));
    }
    let (store, next) = numbers::of(conn)?;
    let last = last(conn)?;
    let position = match since {
        Since::Now => Position::behind(&store, 0, last),
        Since::Beginning => {
            let at = At::Listed("0".into());
            Position { at, ..Position::behind(&store, 0, last) }
        }
        Since::Mark(mark) => {
            let position = Position::of(mark, &store).map_err(Fault::Refused)?;
            if position.base >= next {
                let message = "the store was put back to an earlier state".into();
                let mark = mark.clone();
                return Err(Fault::Refused(Error::MarkExpired { mark, message }));
            }
            position
        }
    };
    match &position.at {
        At::Listed(behind) => {
            let behind = behind.parse().unwrap_or_default();
            let list = list(conn, behind, limit)?;
            Ok(list_page(&position, list, limit, last))
        }
        At::Commit(number, session) => {
            let found = behind(conn, (*number, *session), limit)?;
            let found = found.into_iter().filter_map(|(at, stamp)| {
                let change = change(conn, at.1, stamp, position.base).transpose()?;
                Some(change.map(|change| (at, change)))
            });
            Ok(commit_page(&position, found.collect::<fault::Result<_>>()?, limit, last))
        }
    }
}

/// Returns the highest transaction number that the row of any session contains.
fn last(conn: &Connection) -> fault::Result<u64> {
    let sql = "SELECT feed_created, feed_appended, feed_changed, feed_until FROM session
        WHERE feed_until IS NOT NULL ORDER BY feed_until DESC";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut last = 0;
    while let Some(row) = rows.next()? {
        if unsigned(row.get(3)?)? < last {
            break;
        }
        last = last.max(stamp(row, 0)?.last());
    }
    Ok(last)
}

fn stamp(row: &rusqlite::Row<'_>, at: usize) -> fault::Result<Stamp> {
    let number = |at| row.get::<_, Option<i64>>(at)?.map(unsigned).transpose();
    Ok(Stamp {
        created: number(at)?.unwrap_or_default(),
        appended: number(at + 1)?.unwrap_or_default(),
        changed: number(at + 2)?.unwrap_or_default(),
    })
}

/// Returns the sessions that changed after `position`, ordered by transaction and session. Each
/// comes with the numbers of its last transactions. If `limit` is 0, returns all. Otherwise returns
/// at most `limit` + 1: the extra one shows the caller that more follow.
fn behind(
    conn: &Connection,
    position: (u64, u64),
    limit: usize,
) -> fault::Result<BTreeMap<(u64, u64), Stamp>> {
    let sql = "SELECT sid, feed_created, feed_appended, feed_changed, feed_until FROM session
        WHERE feed_until >= ? ORDER BY feed_until";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([signed(position.0)])?;
    let mut found = BTreeMap::new();
    let mut complete = position.0;
    while let Some(row) = rows.next()? {
        // Rows are ordered by `feed_until`, so the last number of this row and of each later one is
        // at least this.
        let until = unsigned(row.get(4)?)?.saturating_sub(RESERVED);
        if limit > 0 && until > complete && found.len() > limit {
            complete = until;
            if found.range(..(complete, 0)).nth(limit).is_some() {
                break;
            }
        }
        let stamp = stamp(row, 1)?;
        let at = (stamp.last(), unsigned(row.get(0)?)?);
        if at > position {
            found.insert(at, stamp);
        }
    }
    Ok(match found.keys().nth(limit.saturating_add(1)).copied() {
        Some(surplus) if limit > 0 => {
            drop(found.split_off(&surplus));
            found
        }
        _ => found,
    })
}

/// Returns the entry of one session in the feed. `sid` is the session's number, and `stamp` has the
/// numbers of its last transactions. The entry's flags report only transactions after `base`.
/// Returns `None` if the session's id cannot be read.
fn change(
    conn: &Connection,
    sid: u64,
    stamp: Stamp,
    base: u64,
) -> fault::Result<Option<SessionChange>> {
    let found = match session::bare(conn, signed(sid)) {
        Ok(session) => {
            (session.header.head_seq(), session.header.deleted.is_some(), session.header.id)
        }
        // The rest of the row is damaged. The feed reports the session anyway, and a caller that
        // then reads the session gets the error.
        Err(fault) if fault.is_of_one_row() => match session_id(conn, signed(sid))? {
            Some(id) => (-1, false, id),
            None => return Ok(None),
        },
        Err(fault) => return Err(fault),
    };
    let (head, removed, id) = found;
    Ok(Some(stamp.behind(base, id, head, removed)))
}

/// Returns the id of the session with the number `sid`. Reads and checks no other column, because
/// others may be damaged. Returns `None` if there is no such row, or if its id is not valid.
fn session_id(conn: &Connection, sid: Segment) -> fault::Result<Option<SessionId>> {
    let sql = "SELECT id FROM session WHERE sid = ?";
    let id = conn.prepare_cached(sql)?.query_row([sid], |row| row.get::<_, String>(0));
    Ok(id.optional()?.and_then(|id| id.parse().ok()))
}

/// Returns the living sessions whose number is greater than `behind`, ordered by number. If `limit`
/// is 0, returns all. Otherwise returns at most `limit` + 1: the extra one shows the caller that
/// more follow.
fn list(
    conn: &Connection,
    behind: i64,
    limit: usize,
) -> fault::Result<Vec<(String, SessionChange)>> {
    let sql = "SELECT sid FROM session WHERE sid > ? AND deleted IS NULL ORDER BY sid";
    let mut statement = conn.prepare_cached(sql)?;
    let sids = statement.query_map([behind], |row| row.get::<_, Segment>(0))?;
    let mut all = Vec::new();
    for sid in sids {
        let sid = sid?;
        if limit > 0 && all.len() > limit {
            break;
        }
        let change = match session::bare(conn, sid) {
            Ok(session) => Some(listed(&session.header)),
            Err(fault) if fault.is_of_one_row() => {
                let stamp = Stamp { created: 1, ..Stamp::default() };
                session_id(conn, sid)?.map(|id| stamp.behind(0, id, -1, false))
            }
            Err(fault) => return Err(fault),
        };
        all.extend(change.map(|change| (sid.to_string(), change)));
    }
    Ok(all)
}

/// Checks that the file at `path` is still the one that was opened. `opened` is its device and
/// inode.
///
/// # Errors
/// `StoreGone` if the file is missing or is another file.
pub(crate) fn check_there(path: &Path, opened: (u64, u64)) -> Result<()> {
    use std::os::unix::fs::MetadataExt;
    match std::fs::metadata(path) {
        Ok(found) if (found.dev(), found.ino()) == opened => Ok(()),
        Ok(_) => Err(Error::StoreGone { location: path.display().to_string() }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Error::StoreGone { location: path.display().to_string() })
        }
        Err(error) => Err(forklore_store::disk::os("looking for", path)(error)),
    }
}

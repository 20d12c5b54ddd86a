//! The table of sessions: what the index stores about each session, and how far it has read the
//! session's events.

use forklore_core::workspace::Workspace;
use forklore_core::{Header, SessionId, SessionKind};
use forklore_index::{Fault, Result};
use rusqlite::{Connection, OptionalExtension, Row};

/// A row of the table of sessions.
#[derive(Clone, Debug)]
pub(crate) struct SessionRow {
    pub(crate) number: i64,
    pub(crate) id: SessionId,
    pub(crate) is_deleted: bool,
    /// The seq of the next event to read in the session's own log.
    pub(crate) next_seq: u64,
    /// The number of events that the session inherits.
    pub(crate) inherits: u64,
    /// The ordinal of the last event that was read: the number of inheritable events up to and
    /// including this event. If it equals `inherits`, no event was read yet.
    pub(crate) read_to: u64,
    /// The number of the document with the session's title and label. `None` if there is no such
    /// document.
    pub(crate) head_row: Option<i64>,
}

impl SessionRow {
    const COLUMNS: &'static str = "number, id, deleted, next_seq, inherits, read_to, head_row";

    fn of(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            number: row.get(0)?,
            id: id(&row.get::<_, String>(1)?)?,
            is_deleted: row.get(2)?,
            next_seq: row.get::<_, i64>(3)?.unsigned_abs(),
            inherits: row.get::<_, i64>(4)?.unsigned_abs(),
            read_to: row.get::<_, i64>(5)?.unsigned_abs(),
            head_row: row.get(6)?,
        })
    }
}

pub(crate) fn id(text: &str) -> Result<SessionId> {
    text.parse().map_err(|_| Fault::Damaged("a session has an impossible id"))
}

pub(crate) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Records that these sessions changed, so that the next update reads them. `headers` are their
/// current headers.
pub(crate) fn note_changes(conn: &Connection, headers: &[Header]) -> Result<()> {
    headers.iter().try_for_each(|header| note_change(conn, header))
}

fn note_change(conn: &Connection, header: &Header) -> Result<()> {
    let deleted = header.deleted.is_some();
    let before = "SELECT deleted FROM session WHERE id = ?";
    let was_deleted: Option<bool> = conn
        .prepare_cached(before)?
        .query_row([header.id.as_str()], |row| row.get(0))
        .optional()?;
    let sql = "INSERT INTO session (id, root, parent, is_branch, inherits, workspace, label, title,
            agent, updated, deleted, copy_of, copy_index, bytes, pending, next_seq, read_to)
        VALUES (?, ?, ?, ?, ?5, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?5)
        ON CONFLICT (id) DO UPDATE SET parent = excluded.parent, workspace = excluded.workspace,
            label = excluded.label, title = excluded.title, agent = excluded.agent,
            updated = excluded.updated, deleted = excluded.deleted, copy_of = excluded.copy_of,
            copy_index = excluded.copy_index, bytes = excluded.bytes, pending = 1";
    let copy = header.copy_of.as_ref();
    let first = header.parent_id.as_ref().map_or(0, |_| header.inherited.inheritable + 1);
    conn.prepare_cached(sql)?.execute(rusqlite::params![
        header.id.as_str(),
        header.root_id.as_str(),
        header.parent_id.as_ref().map(SessionId::as_str),
        header.kind == SessionKind::Branch,
        integer(header.inherited.inheritable),
        header.workspace.as_str(),
        header.label.as_str(),
        header.title,
        header.dialect,
        header.updated.as_microsecond(),
        deleted,
        copy.map(|copy| copy.session_id.as_str()),
        copy.map(|copy| integer(copy.index)),
        integer(header.own_bytes),
        integer(first),
    ])?;
    if was_deleted == Some(true) && !deleted {
        let anew =
            "UPDATE session SET next_seq = ?, read_to = inherits, read_bytes = 0 WHERE id = ?";
        conn.prepare_cached(anew)?.execute((integer(first), header.id.as_str()))?;
    }
    if was_deleted.is_some_and(|was_deleted| was_deleted != deleted) {
        // The session may be the only one that inherits some events of its deleted ancestors.
        for ancestor in ancestors(conn, header)? {
            let sql = "UPDATE session SET pending = 1 WHERE id = ? AND deleted";
            conn.prepare_cached(sql)?.execute([ancestor])?;
        }
    }
    Ok(())
}

fn ancestors(conn: &Connection, header: &Header) -> Result<Vec<String>> {
    let mut statement = conn.prepare_cached("SELECT parent FROM session WHERE id = ?")?;
    let mut next = header.parent_id.as_ref().map(ToString::to_string);
    let mut found = Vec::new();
    // The session's depth limits the loop, because damaged parent links may form a cycle.
    for _ in 0..=header.depth {
        let Some(ancestor) = next else { break };
        next = statement.query_row([&ancestor], |row| row.get(0)).optional()?.flatten();
        found.push(ancestor);
    }
    Ok(found)
}

/// Returns the next session that the index must read: the one with the lowest number above `after`
/// whose family has a session in `workspace`. A `workspace` of `None` means all families.
pub(crate) fn next_pending(
    conn: &Connection,
    workspace: Option<&Workspace>,
    after: i64,
) -> Result<Option<SessionRow>> {
    let columns = SessionRow::COLUMNS;
    let sql = format!(
        "SELECT {columns} FROM session INDEXED BY session_pending
         WHERE pending AND number > ?1 AND {IN_SCOPE} ORDER BY number LIMIT 1"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let workspace = workspace.map(Workspace::as_str);
    statement.query_and_then((after, workspace), SessionRow::of)?.next().transpose()
}

/// Returns at most `limit` sessions that are not deleted and that the index must read after the
/// session with the number `after`, in the order of [`next_pending`].
pub(crate) fn pending_after(
    conn: &Connection,
    workspace: Option<&Workspace>,
    after: i64,
    limit: usize,
) -> Result<Vec<SessionRow>> {
    let columns = SessionRow::COLUMNS;
    let sql = format!(
        "SELECT {columns} FROM session INDEXED BY session_pending
         WHERE pending AND NOT deleted AND number > ?1 AND {IN_SCOPE} ORDER BY number LIMIT {limit}"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let workspace = workspace.map(Workspace::as_str);
    statement.query_and_then((after, workspace), SessionRow::of)?.collect()
}

/// An SQL condition on a session: its family has a session in the workspace that parameter 2 names.
/// Without a workspace, it is true.
const IN_SCOPE: &str = "(?2 IS NULL OR EXISTS (SELECT 1 FROM session AS other
    WHERE other.root = session.root AND other.workspace = ?2))";

/// Returns the total size, in bytes, of the payloads that the index must still read.
pub(crate) fn pending_bytes(conn: &Connection, workspace: Option<&Workspace>) -> Result<u64> {
    let sql = format!(
        "SELECT SUM(MAX(bytes - read_bytes, 0)) FROM session
         WHERE pending AND NOT deleted AND ?1 AND {IN_SCOPE}"
    );
    let workspace = workspace.map(Workspace::as_str);
    let sum: Option<i64> =
        conn.prepare_cached(&sql)?.query_row((1, workspace), |row| row.get(0))?;
    Ok(sum.unwrap_or(0).unsigned_abs())
}

/// Records how far the index has read a session. `bytes` is the size of the payloads that were read
/// now.
pub(crate) fn note_read(
    conn: &Connection,
    row: &SessionRow,
    bytes: u64,
    is_done: bool,
) -> Result<()> {
    let sql = "UPDATE session SET next_seq = ?, read_to = ?, head_row = ?,
        read_bytes = read_bytes + ?, pending = NOT ? WHERE number = ?";
    let (next, to) = (integer(row.next_seq), integer(row.read_to));
    let values = (next, to, row.head_row, integer(bytes), is_done, row.number);
    conn.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

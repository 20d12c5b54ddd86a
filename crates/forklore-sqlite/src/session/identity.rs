//! The identity of a session: the columns of its row that never change, and the ids of its root and
//! parent. If the row of the root or of the parent is lost, the ids come from the session's first
//! event, which also names them (docs/semantics.md, Fork).

use forklore_core::{EventType, SessionId};
use forklore_store::Error;
use forklore_store::port::Direction;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Deserialize;

use crate::fault::{Fault, Result};
use crate::segment::{self, Next, Range, Segment, Wanted};

/// The columns of a session's row that never change, such as its id and its parent.
pub(super) const IDENTITY: [&str; 12] = [
    "sid",
    "id",
    "folded",
    "parent",
    "root",
    "kind",
    "depth",
    "inherited_kept",
    "inherited_index",
    "inherited_turns",
    "inherited_bytes",
    "inherited_open",
];

/// The index of the first column that identifies the session, among the columns of a query for
/// `SELECTED`. Each constant `..._AT` is such an index, counted from 0: the index of the first
/// column of a group.
pub(super) const IDENTITY_AT: usize = 0;
/// The index of the column with the root's id, among the columns of a query for `SELECTED`. The
/// column with the parent's id follows.
pub(super) const KIN_AT: usize = IDENTITY_AT + IDENTITY.len();
/// The columns of a session's row that are needed to find the origin of a stored event, i.e. the
/// session that first wrote it and its seq there.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) id: SessionId,
    pub(crate) parent: Option<Segment>,
    /// Number of events that the session inherits from its ancestors.
    pub(crate) inherited: u64,
}

/// The ids of a session's root and parent.
pub(super) struct Kin {
    pub(super) root: SessionId,
    pub(super) parent: Option<SessionId>,
}

/// What the first event of a session, its `session_fork`, says about the session's lineage.
#[derive(Deserialize)]
struct Fork {
    parent_session_id: SessionId,
    root_session_id: SessionId,
    event_count: u64,
}

impl Kin {
    /// Reads the ids from the columns of a session's row. If the row of the root or of the parent
    /// is lost, reads both ids from the session's first event. The checksum of the row covers the
    /// ids.
    pub(super) fn of(conn: &Connection, row: &Row<'_>) -> Result<Self> {
        let id = |at: usize| -> Result<Option<SessionId>> {
            let text: Option<String> = row.get(at)?;
            let parsed = text.map(|text| text.parse());
            parsed.transpose().map_err(|error| Fault::damaged(location(row), &error))
        };
        let (sid, has_parent): (Segment, Option<Segment>) =
            (row.get(IDENTITY_AT)?, row.get(IDENTITY_AT + 3)?);
        let (root, parent) = (id(KIN_AT)?, id(KIN_AT + 1)?);
        let missing = match (&root, &parent) {
            (None, _) => "family's root",
            (_, None) if has_parent.is_some() => "parent",
            (Some(_), _) => "",
        };
        match root {
            Some(root) if missing.is_empty() => return Ok(Self { root, parent }),
            _ => {}
        }
        match fork(conn, sid)? {
            Some(fork) => {
                let parent = has_parent.map(|_| fork.parent_session_id);
                Ok(Self { root: fork.root_session_id, parent })
            }
            None => {
                let id: String = row.get(IDENTITY_AT + 1)?;
                let session = id.parse().map_err(|error| Fault::damaged(location(row), &error))?;
                let missing = format!("the row of its {missing}");
                Err(Fault::Refused(Error::MissingAncestor { session, missing }))
            }
        }
    }
}

/// Finds the identity of a session whose row is lost. Reads it from the first event of another
/// session, which names the lost session as its parent or its root. Returns `None` if there is no
/// such event. `parent` in the result only tells whether the session had a parent.
pub(crate) fn lost(conn: &Connection, sid: Segment) -> Result<Option<Identity>> {
    let sql = "SELECT sid, parent IS ?1 FROM session WHERE parent = ?1 OR root = ?1";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([sid])?;
    while let Some(row) = rows.next()? {
        let (relative, is_child): (Segment, bool) = (row.get(0)?, row.get(1)?);
        let Some(named) = fork(conn, relative)? else { continue };
        let id = if is_child { named.parent_session_id } else { named.root_session_id };
        let own = fork(conn, sid)?;
        let parent = own.as_ref().map(|own| number_of(conn, &own.parent_session_id)).transpose()?;
        let inherited = own.map_or(0, |own| own.event_count);
        return Ok(Some(Identity { id, parent: parent.map(Option::unwrap_or_default), inherited }));
    }
    Ok(None)
}

/// Returns the number of the session with this id, or `None` if it has no row.
pub(crate) fn number_of(conn: &Connection, id: &SessionId) -> Result<Option<Segment>> {
    let sql = "SELECT sid FROM session WHERE folded = ?";
    Ok(conn.prepare_cached(sql)?.query_row([id.fold()], |row| row.get(0)).optional()?)
}

/// Reads the first event of a session, if it is a `session_fork` that states the lineage.
fn fork(conn: &Connection, sid: Segment) -> Result<Option<Fork>> {
    let range = Range { segment: sid, from: 0, to: 1, inherited: false };
    let mut found = None;
    segment::visit(conn, range, Direction::Forward, Wanted { most: 1, bare: false }, |row| {
        found = Some(row.event);
        Ok(Next::Stop)
    })?;
    let fork = found.filter(|event| event.kind == EventType::SESSION_FORK);
    Ok(fork.and_then(|event| event.data.read().ok()))
}

/// Returns a description of a session's row, for error messages.
pub(super) fn location(row: &Row<'_>) -> String {
    match row.get::<_, i64>(IDENTITY_AT) {
        Ok(sid) => format!("session row {sid}"),
        Err(_) => "session row".into(),
    }
}

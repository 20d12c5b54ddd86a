//! The table of the sessions of a store: what an index knows of each session, and how much of the
//! session it contains.

use forklore_api::GraphScope as Scope;
use forklore_core::{Header, SessionId};
use forklore_engine::Engine;
use oxigraph::model::NamedNode;
use rusqlite::{Connection, OptionalExtension, Row};

use super::quads::Writer;
use super::{Fault, Result};
use crate::iri;

/// The sessions that a query is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// All sessions of the store.
    All,
    /// The sessions with this root.
    Family(SessionId),
    /// The families with a session in the workspace of this name.
    Workspace(String),
}

/// How much of a session an index contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Indexed {
    pub(super) id: SessionId,
    /// The number of the session's own events in the index. `None` if the index does not contain
    /// the session.
    pub(super) events: Option<u64>,
    /// The label that the session's messages have in the index. `None` if the index does not
    /// contain the session.
    pub(super) label: Option<String>,
    /// Whether the session is deleted in the index.
    pub(super) deleted: bool,
}

impl Selection {
    /// Returns the selection of the sessions in `scope`.
    ///
    /// # Errors
    /// `not_found` if `scope` names a session that does not exist.
    pub(crate) fn of(engine: &Engine, scope: &Scope) -> forklore_engine::Result<Self> {
        Ok(match scope {
            Scope::Everything => Self::All,
            Scope::Family(id) => Self::Family(engine.show(id)?.root_id),
            Scope::Workspace(workspace) => Self::Workspace(workspace.as_str().to_owned()),
        })
    }

    /// Returns an SQL condition that the rows of the selected sessions fulfil, and the value of its
    /// parameter.
    fn condition(&self) -> (&'static str, Option<&str>) {
        match self {
            Self::All => ("?1 IS NULL", None),
            Self::Family(root) => ("root = ?1", Some(root.as_str())),
            Self::Workspace(workspace) => {
                ("root IN (SELECT root FROM session WHERE workspace = ?1)", Some(workspace))
            }
        }
    }
}

impl Indexed {
    const COLUMNS: &'static str = "id, indexed_events, indexed_label, indexed_deleted";

    fn of(row: &Row<'_>) -> Result<Self> {
        let events: Option<i64> = row.get(1)?;
        Ok(Self {
            id: id(&row.get::<_, String>(0)?)?,
            events: events.map(i64::unsigned_abs),
            label: row.get(2)?,
            deleted: row.get(3)?,
        })
    }
}

fn id(text: &str) -> Result<SessionId> {
    text.parse().map_err(|_| Fault::Damaged("a session has an impossible id"))
}

/// Records that the index does not contain the latest changes of a session. `header` is its current
/// header.
pub(super) fn note_change(writer: &mut Writer<'_>, header: &Header) -> Result<()> {
    let graph = writer.number(iri::session(&header.id).as_ref())?;
    let principal = header.principal.as_deref().map(iri::principal);
    let number = |name: NamedNode| writer.number(name.as_ref());
    let principal = principal.map(number).transpose()?;
    clear_lost_principal(writer, &header.id, principal)?;
    let sql =
        "INSERT INTO session (id, graph, principal, root, parent, workspace, deleted, pending)
        VALUES (?, ?, ?, ?, ?, ?, ?, 1)
        ON CONFLICT (id) DO UPDATE SET graph = excluded.graph, principal = excluded.principal,
            root = excluded.root, parent = excluded.parent, workspace = excluded.workspace,
            deleted = excluded.deleted, pending = 1";
    writer.conn.prepare_cached(sql)?.execute((
        header.id.as_str(),
        graph,
        principal,
        header.root_id.as_str(),
        header.parent_id.as_ref().map(SessionId::as_str),
        header.workspace.as_str(),
        header.deleted.is_some(),
    ))?;
    Ok(())
}

/// Removes the graph of a session's principal if `now` is another or none, as in an erased session,
/// and no other session has that principal.
fn clear_lost_principal(
    writer: &mut Writer<'_>,
    session: &SessionId,
    now: Option<i64>,
) -> Result<()> {
    let sql = "SELECT principal FROM session AS this
        WHERE id = ?1 AND principal NOT NULL AND principal IS NOT ?2 AND NOT EXISTS
            (SELECT 1 FROM session WHERE principal = this.principal AND id <> ?1)";
    let mut statement = writer.conn.prepare_cached(sql)?;
    let lost: Option<i64> =
        statement.query_row((session.as_str(), now), |row| row.get(0)).optional()?;
    lost.map_or(Ok(()), |graph| writer.clear(graph))
}

/// Records that the index contains a session in the state that `header` describes.
pub(super) fn note_indexed(conn: &Connection, header: &Header) -> Result<()> {
    let sql = "UPDATE session SET pending = 0, deleted = ?2, indexed_deleted = ?2,
        indexed_events = ?3, indexed_label = ?4 WHERE id = ?1";
    let events = i64::try_from(header.own_events).unwrap_or(i64::MAX);
    let (id, label) = (header.id.as_str(), header.label.as_str());
    conn.prepare_cached(sql)?.execute((id, header.deleted.is_some(), events, label))?;
    Ok(())
}

/// Returns the roots of the selected families in which a session has changes that the index does
/// not contain.
pub(super) fn pending_roots(conn: &Connection, selection: &Selection) -> Result<Vec<SessionId>> {
    let (condition, value) = selection.condition();
    let sql = format!("SELECT DISTINCT root FROM session WHERE pending AND {condition}");
    let mut statement = conn.prepare_cached(&sql)?;
    let roots = statement.query_and_then([value], |row| id(&row.get::<_, String>(0)?))?;
    roots.collect()
}

/// Returns the sessions of a family that have changes which the index does not contain.
pub(super) fn pending(conn: &Connection, root: &SessionId) -> Result<Vec<Indexed>> {
    let columns = Indexed::COLUMNS;
    let sql = format!("SELECT {columns} FROM session WHERE root = ? AND pending ORDER BY id");
    let mut statement = conn.prepare_cached(&sql)?;
    statement.query_and_then([root.as_str()], Indexed::of)?.collect()
}

/// Returns all sessions of a family.
pub(super) fn family(conn: &Connection, root: &SessionId) -> Result<Vec<SessionId>> {
    let mut statement = conn.prepare_cached("SELECT id FROM session WHERE root = ? ORDER BY id")?;
    statement.query_and_then([root.as_str()], |row| id(&row.get::<_, String>(0)?))?.collect()
}

pub(super) fn exists(conn: &Connection, session: &SessionId) -> Result<bool> {
    let mut statement = conn.prepare_cached("SELECT 1 FROM session WHERE id = ?")?;
    Ok(statement.exists([session.as_str()])?)
}

pub(super) fn has_children(conn: &Connection, session: &SessionId) -> Result<bool> {
    let mut statement = conn.prepare_cached("SELECT 1 FROM session WHERE parent = ?")?;
    Ok(statement.exists([session.as_str()])?)
}

/// Returns the deleted ancestors of a session, the nearest first.
pub(super) fn buried_ancestors(conn: &Connection, header: &Header) -> Result<Vec<SessionId>> {
    let sql = "SELECT parent, deleted FROM session WHERE id = ?";
    let mut statement = conn.prepare_cached(sql)?;
    let (mut buried, mut next) = (Vec::new(), header.parent_id.clone());
    // The session's depth limits the loop, because damaged parent links may form a cycle.
    for _ in 0..=header.depth {
        let Some(ancestor) = next else { break };
        let found = statement.query_row([ancestor.as_str()], |row| {
            Ok((row.get::<_, Option<String>>(0)?, row.get::<_, bool>(1)?))
        });
        let Some((parent, deleted)) = found.optional()? else { break };
        if deleted {
            buried.push(ancestor);
        }
        next = parent.as_deref().map(id).transpose()?;
    }
    Ok(buried)
}

/// Returns the numbers of the named graphs of the selected sessions and of their principals, in
/// ascending order. `None` means all graphs.
pub(super) fn graphs(conn: &Connection, selection: &Selection) -> Result<Option<Vec<i64>>> {
    let (condition, value) = selection.condition();
    if value.is_none() {
        return Ok(None);
    }
    let sql = format!(
        "SELECT graph FROM session WHERE {condition}
         UNION SELECT principal FROM session WHERE {condition} AND principal IS NOT NULL ORDER BY 1"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let graphs = statement.query_map([value], |row| row.get(0))?;
    Ok(Some(graphs.collect::<rusqlite::Result<_>>()?))
}

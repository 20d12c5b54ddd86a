//! Lists the headers of sessions.

use forklore_store::port::{Cursor, Filter, Headers};

use crate::connection::{bytes, number, text};
use crate::database::Database;
use crate::fault::{Fault, Result};
use crate::number::micros;
use crate::session::{COLUMNS, Session, workspace_key};

/// How many rows are read at once, if the filter has conditions that the database does not check.
const CHUNK: i64 = 500;

/// Returns the headers that match, the most recently updated first.
pub(crate) fn sessions(
    database: Database<'_>,
    filter: &Filter,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<Headers> {
    let mut answer = Headers::default();
    let mut behind = after.map(|cursor| (micros(cursor.updated), cursor.id.as_str().to_owned()));
    loop {
        let rows = rows(database, filter, behind.as_ref(), limit)?;
        for row in &rows {
            if limit > 0 && answer.sound.len() == limit {
                return Ok(answer);
            }
            match Session::of(row) {
                Ok(session) if filter.matches(&session.header) => answer.sound.push(session.header),
                Ok(_) => {}
                Err(Fault::Store(damaged)) => answer.damaged.push(damaged),
                Err(fault) => return Err(fault),
            }
        }
        match rows.last() {
            Some(last) => behind = Some((last.try_get(8)?, last.try_get(1)?)),
            None => return Ok(answer),
        }
    }
}

fn rows(
    database: Database<'_>,
    filter: &Filter,
    behind: Option<&(i64, String)>,
    limit: usize,
) -> Result<Vec<tokio_postgres::Row>> {
    let family = filter.family.as_ref().map(forklore_core::SessionId::as_str);
    let parent = filter.parent.as_ref().map(forklore_core::SessionId::as_str);
    let label = filter.label.as_ref().map(forklore_core::Label::as_str);
    let workspace = filter.workspace.as_ref().map(|workspace| workspace_key(workspace.as_str()));
    let since = filter.since.map(micros);
    let (updated, id) = behind.cloned().unzip();
    let states = match (filter.trash, filter.deleted) {
        (true, _) => "s.state = 1",
        (false, true) => "true",
        (false, false) => "s.state = 0",
    };
    let mut sql =
        format!("SELECT {COLUMNS} FROM forklore.session s WHERE s.tenant = $1 AND {states}");
    let mut values = vec![text(&database.tenant)];
    let mut add = |condition: &str, value| {
        values.push(value);
        sql = format!("{sql} AND {}", condition.replace('?', &format!("${}", values.len())));
    };
    if family.is_some() {
        add("s.family = ?", text(&family));
    }
    if parent.is_some() {
        add("s.parent = ?", text(&parent));
    }
    if label.is_some() {
        add("s.label = ?", text(&label));
    }
    if workspace.is_some() {
        add("s.workspace = ?", bytes(&workspace));
    }
    if since.is_some() {
        add("s.updated >= ?", number(&since));
    }
    let part = filter.id_part.as_deref();
    if part.is_some() {
        add("(starts_with(s.id, ?) OR right(s.id, length(?)) = ?)", text(&part));
    }
    if updated.is_some() {
        add("(s.updated <= ?)", number(&updated));
        let at = values.len();
        values.push(text(&id));
        sql = format!("{sql} AND (s.updated < ${at} OR s.id > ${})", values.len());
    }
    let most = if limit == 0 { CHUNK } else { CHUNK.min(crate::number::signed(limit as u64)) };
    sql = format!("{sql} ORDER BY s.updated DESC, s.id LIMIT {most}");
    database.connection.rows(&sql, &values)
}

//! Lists the headers of sessions.

use forklore_store::port::{Cursor, Filter, Headers};

use crate::connection::{bytes, number, text};
use crate::database::Database;
use crate::fault::{Fault, Result};
use crate::number::{micros, signed};
use crate::session::{COLUMNS, Session, workspace_key};

/// How many rows are read at once at most.
const CHUNK: i64 = 500;

/// Returns the headers that match, the most recently updated first.
pub(crate) fn sessions(
    database: Database<'_>,
    filter: &Filter,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<Headers> {
    let mut answer = Headers::default();
    // No id contains this character, and the database accepts no text with it.
    if filter.id_part.as_deref().is_some_and(|part| part.contains('\0')) {
        return Ok(answer);
    }
    let most = if limit == 0 { CHUNK } else { CHUNK.min(signed(limit as u64)) };
    let mut behind = after.map(|cursor| (micros(cursor.updated), cursor.id.as_str().to_owned()));
    loop {
        let rows = rows(database, filter, behind.as_ref(), most)?;
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
        if limit > 0 && answer.sound.len() == limit {
            return Ok(answer);
        }
        match rows.last() {
            Some(last) if signed(rows.len() as u64) == most => {
                behind = Some((last.try_get(8)?, last.try_get(1)?));
            }
            _ => return Ok(answer),
        }
    }
}

fn rows(
    database: Database<'_>,
    filter: &Filter,
    behind: Option<&(i64, String)>,
    most: i64,
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
    sql = format!("{sql} ORDER BY s.updated DESC, s.id LIMIT {most}");
    database.connection.rows(&sql, &values)
}

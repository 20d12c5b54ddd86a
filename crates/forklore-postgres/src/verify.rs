//! Reads everything that a store has, and reports what is damaged.

use forklore_core::SessionId;
use forklore_store::port::{Problem, Verification};

use crate::connection::{number, text};
use crate::database::Database;
use crate::event::{COLUMNS as EVENT, Stored};
use crate::fault::{Fault, Result};
use crate::history::History;
use crate::number::signed;
use crate::read::range;
use crate::session::{COLUMNS, LIVING, Session, state_of};

/// How many rows are read at once.
const CHUNK: i64 = 500;

/// Verifies the history of one session.
pub(crate) fn session(database: Database<'_>, id: &SessionId) -> Result<Verification> {
    let mut report = Verification { sessions: 1, ..<_>::default() };
    let found = database.living(id).and_then(|session| History::of(database, session));
    let history = match found {
        Ok(history) => history,
        Err(fault) => {
            return problem(fault, id).map(|problem| {
                report.problems.push(problem);
                report
            });
        }
    };
    let head = history.session.header.head_seq();
    let mut from = 0;
    while from <= head {
        let to = (from + CHUNK - 1).min(head);
        match range(database, &history, from, to, false) {
            Ok(read) => report.events += read.len() as u64,
            Err(fault) => report.problems.push(problem(fault, id)?),
        }
        from = to + 1;
    }
    Ok(report)
}

/// Returns what a fault tells of the session; the fault itself if it is about something else.
fn problem(fault: Fault, id: &SessionId) -> Result<Problem> {
    match fault {
        Fault::Store(error)
            if !matches!(
                error,
                forklore_store::Error::NotFound(_) | forklore_store::Error::Deleted(_)
            ) =>
        {
            Ok(error.problem(Some(id)))
        }
        fault => Err(fault),
    }
}

/// Verifies all sessions and all events.
pub(crate) fn store(database: Database<'_>) -> Result<Verification> {
    let mut report = Verification::default();
    let mut behind = (String::new(), String::new());
    loop {
        let sql = format!(
            "SELECT {COLUMNS} FROM forklore.session s
             WHERE s.tenant = $1 AND (s.family, s.id) > ($2, $3) ORDER BY s.family, s.id LIMIT $4"
        );
        let values = [text(&database.tenant), text(&behind.0), text(&behind.1), number(&CHUNK)];
        let rows = database.connection.rows(&sql, &values)?;
        let Some(last) = rows.last() else { break };
        behind = (last.try_get(0)?, last.try_get(1)?);
        for row in &rows {
            match Session::of(row) {
                Ok(session) => one(database, session, &mut report)?,
                Err(Fault::Store(error)) => report.problems.push(error.problem(None)),
                Err(fault) => return Err(fault),
            }
        }
    }
    lost(database, &mut report)?;
    events(database, &mut report)?;
    Ok(report)
}

/// Checks that the history of a session is complete.
fn one(database: Database<'_>, session: Session, report: &mut Verification) -> Result<()> {
    let header = &session.header;
    report.sessions += u64::from(state_of(header) == LIVING);
    if header.is_erased() {
        return Ok(());
    }
    let (id, own) = (header.id.clone(), signed(header.own_events));
    let copied = if session.origin.owned { signed(header.inherited.inheritable) } else { 0 };
    let sql = "SELECT count(*) FROM forklore.event
         WHERE tenant = $1 AND family = $2 AND session = $3";
    let (family, name) = (session.family(), session.id());
    let row =
        database.connection.row(sql, &[text(&database.tenant), text(&family), text(&name)])?;
    let stored: i64 = row.map_or(Ok(0), |row| row.try_get(0))?;
    if stored != own + copied {
        let message = format!("it has {stored} events of {}", own + copied);
        let fault = Fault::damaged(name, None, message);
        report.problems.push(problem(fault, &id)?);
    }
    if let Err(fault) = History::of(database, session) {
        report.problems.push(problem(fault, &id)?);
    }
    Ok(())
}

/// Reports the sessions whose rows are gone.
fn lost(database: Database<'_>, report: &mut Verification) -> Result<()> {
    let sql = "SELECT k.id FROM forklore.name k WHERE k.tenant = $1 AND NOT EXISTS (
             SELECT FROM forklore.session s
             WHERE s.tenant = k.tenant AND s.family = k.family AND s.id = k.id)
         ORDER BY k.id";
    for row in database.connection.rows(sql, &[text(&database.tenant)])? {
        let id: String = row.try_get(0)?;
        let Ok(id) = id.parse::<SessionId>() else { continue };
        let location = format!("the row of session {id}");
        let error = forklore_store::Error::Lost { session: id.clone(), location };
        report.problems.push(error.problem(Some(&id)));
    }
    Ok(())
}

fn events(database: Database<'_>, report: &mut Verification) -> Result<()> {
    let mut behind = (String::new(), String::new(), -1_i64);
    loop {
        let sql = format!(
            "SELECT {EVENT}, e.data, e.family FROM forklore.event e
             WHERE e.tenant = $1 AND (e.family, e.session, e.seq) > ($2, $3, $4)
             ORDER BY e.family, e.session, e.seq LIMIT $5"
        );
        let values = [
            text(&database.tenant),
            text(&behind.0),
            text(&behind.1),
            number(&behind.2),
            number(&CHUNK),
        ];
        let rows = database.connection.rows(&sql, &values)?;
        let Some(last) = rows.last() else { return Ok(()) };
        behind = (last.try_get(18)?, last.try_get(0)?, last.try_get(1)?);
        for row in &rows {
            report.events += 1;
            match Stored::of(row, false) {
                Ok(_) => {}
                Err(Fault::Store(error)) => report.problems.push(error.problem(None)),
                Err(fault) => return Err(fault),
            }
        }
    }
}

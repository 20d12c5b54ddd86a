//! An append in one round trip, to a session that this process has read or written last.
//!
//! What the append changes is computed from that row. The statement changes nothing if the database
//! has another row by now; the append then begins anew with locks.

use forklore_core::SessionId;
use forklore_store::port::{Append, Committed, Transaction, Write, Written};
use jiff::Timestamp;

use super::flush::TRANSACTION;
use super::{Attempt, DURABLE, WAITING};
use crate::connection::{Failed, Statement, number, text};
use crate::database::Database;
use crate::event::{Rows, UNNESTED, UNNESTED_COLUMNS};
use crate::fault::Result;
use crate::maintenance::{CLOCK, time_of};
use crate::number::micros;
use crate::recent::Recent;
use crate::session::Session;

/// The values of the statement behind those of the events, from this number on.
const FIRST: usize = UNNESTED_COLUMNS + 3;

/// Executes a transaction that is one append, if it names as its head that of the row that this
/// process remembers. Returns `None` if it is not executed.
pub(super) fn append(
    database: Database<'_>,
    recent: &Recent,
    transaction: &Transaction,
) -> Result<Option<Committed>, Failed> {
    let Some((id, append)) = only_append(transaction) else { return Ok(None) };
    let Some(row) = recent.take(id).filter(|row| is_expected(row, append)) else {
        return Ok(None);
    };
    let mut attempt = Attempt::at(database, recent.clock.reckoned());
    attempt.sessions.insert(id.as_str().to_owned(), row.clone());
    // Whatever is refused here may be right by now.
    let Ok(appended) = attempt.append(id, append) else { return Ok(None) };
    let Some(after) = attempt.sessions.remove(id.as_str()) else { return Ok(None) };
    let rows = attempt.events.remove(row.family()).unwrap_or_default();
    let stated = match send(database, append, (&row, &after), &rows) {
        Ok(Some(stated)) => stated,
        // If the server executes only what asks for it by `READ WRITE`, the other way does so.
        Err(failed) if !failed.fault.is_of_standby() => return Err(failed),
        _ => return Ok(None),
    };
    recent.clock.advance(stated);
    recent.put(&after);
    let written = vec![Written::Appended(appended)];
    Ok(Some(Committed { written, source: None, operation: None }))
}

/// Returns the append that is all of a transaction and may be repeated: if the connection breaks, it
/// is not known whether the statement was executed.
fn only_append(transaction: &Transaction) -> Option<(&SessionId, &Append)> {
    let Transaction { writes, source: None, operation: None, .. } = transaction else {
        return None;
    };
    let [Write::Append { session, append }] = writes.as_slice() else { return None };
    let size: usize = append.events.iter().map(|event| event.data.get().len()).sum();
    (append.expect.is_some() && size <= WAITING).then_some((session, append))
}

fn is_expected(row: &Session, append: &Append) -> bool {
    append.expect == Some(row.header.head_seq())
}

/// Writes the row of a session and its new events, if the database has the row `before`. Returns the
/// server's time; `None` if it has another row.
fn send(
    database: Database<'_>,
    append: &Append,
    (before, after): (&Session, &Session),
    rows: &Rows,
) -> Result<Option<Timestamp>, Failed> {
    let [header, crc, updated, head, old_header, old_crc, old_updated, label, until] =
        std::array::from_fn(|at| format!("${}", FIRST + at));
    // The time of the change was reckoned and must not be later than that of the server, and the
    // writer must still have its lease.
    let sql = format!(
        "WITH changed AS (
             UPDATE forklore.session SET (header, crc, updated, head, written_as, appended_in,
                 written_in) = ({header}, {crc}, {updated}, {head}, 1, {TRANSACTION}, {TRANSACTION})
             WHERE tenant = $1 AND family = $2 AND id = ($3::text[])[1] AND state = 0
                 AND header = {old_header} AND crc = {old_crc} AND updated = {old_updated}
                 AND label = {label} AND ({CLOCK}) >= {updated}
                 AND ({CLOCK}) < {until}
             RETURNING {DURABLE}),
         written AS ({INSERT} SELECT $1, $2, e.* FROM changed, {UNNESTED} AS e)
         SELECT ({CLOCK}) FROM changed",
        INSERT = Rows::INSERT,
    );
    let Database { connection, tenant } = database;
    let family = before.family().to_owned();
    let (fields, old_fields) = (after.fields()?, before.fields()?);
    let (sum, old_sum) = (after.sum(&fields), before.sum(&old_fields));
    let (updated, old_updated) = (micros(after.header.updated), micros(before.header.updated));
    let (head, label) = (after.header.head_seq(), before.header.label.as_str());
    let lease = before.header.lease.as_ref().filter(|_| append.owner.is_some());
    let until = lease.map_or(i64::MAX, |lease| micros(lease.expires));
    let mut values = rows.values(&tenant, &family);
    values.extend([text(&fields), number(&sum), number(&updated), number(&head)]);
    values.extend([text(&old_fields), number(&old_sum), number(&old_updated), text(&label)]);
    values.push(number(&until));
    let found = connection.commit_one(Statement::new(sql, values))?;
    Ok(found.first().map(|row| time_of(Some(row))).transpose()?)
}

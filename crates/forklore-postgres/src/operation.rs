//! The record of operations.

use forklore_core::SessionId;
use forklore_core::operation::{Operation, OperationId};
use forklore_store::Error;
use forklore_store::port::Operations;
use forklore_store::rules::{Outcomes, RETAINED_OPERATIONS, Recorded, mark_undone};
use jiff::Timestamp;
use tokio_postgres::Row;

use crate::checksum::Checksum;
use crate::connection::{number, text, texts};
use crate::database::Database;
use crate::fault::{Fault, Result};
use crate::number::{signed, unsigned};

/// Records what a transaction did. The transaction has locked the store's row. Returns the number
/// of the operation.
pub(crate) fn record(
    database: Database<'_>,
    recorded: Recorded<'_>,
    now: Timestamp,
) -> Result<Option<OperationId>> {
    if let Some(id) = recorded.operation.continues {
        change(database, id, &mut |operation| {
            let mut outcomes = Outcomes::default();
            outcomes.extend(std::mem::take(&mut operation.outcomes));
            outcomes.extend(recorded.outcomes.clone());
            operation.outcomes = outcomes.into_vec();
        })?;
        return Ok(Some(id));
    }
    let sql = "UPDATE forklore.store SET operations = operations + 1 WHERE tenant = $1
         RETURNING operations";
    let row = database.connection.row(sql, &[text(&database.tenant)])?;
    let gone = || Error::StoreGone { location: format!("of the tenant {}", database.tenant) };
    let id = OperationId(unsigned(row.ok_or_else(gone)?.try_get(0)?));
    if let Some(undone) = recorded.operation.undoes {
        mark_undone(undone, id, |id, with| change(database, id, with))?;
    }
    write(database, &recorded.into_operation(id, now))?;
    Ok(Some(id))
}

/// Applies a change to the record of an operation. Returns false if there is none.
fn change(
    database: Database<'_>,
    id: OperationId,
    with: &mut dyn FnMut(&mut Operation),
) -> Result<bool> {
    let sql = "SELECT id, record, crc FROM forklore.operation WHERE tenant = $1 AND id = $2";
    let number_of = signed(id.0);
    let row = database.connection.row(sql, &[text(&database.tenant), number(&number_of)])?;
    let Some(row) = row else { return Ok(false) };
    let mut operation = read(&row)?;
    with(&mut operation);
    write(database, &operation)?;
    Ok(true)
}

fn read(row: &Row) -> Result<Operation> {
    let (id, record, crc): (i64, String, i64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    let damaged = |message: String| Error::Corrupt {
        session: None,
        seq: None,
        location: format!("the record of operation {id}"),
        message,
    };
    if sum(id, &record) != crc {
        return Err(damaged("it does not fit its checksum".into()).into());
    }
    let operation = serde_json::from_str(&record);
    operation.map_err(|error: serde_json::Error| damaged(error.to_string()).into())
}

fn sum(id: i64, record: &str) -> i64 {
    Checksum::default().number(id).text(record).sum()
}

fn write(database: Database<'_>, operation: &Operation) -> Result<()> {
    let record = serde_json::to_string(operation)
        .map_err(|error| Error::io("recording an operation", error))?;
    let id = signed(operation.id.0);
    let crc = sum(id, &record);
    let sql = "INSERT INTO forklore.operation (tenant, id, record, crc) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant, id) DO UPDATE SET (record, crc) = (excluded.record, excluded.crc)";
    let values = [text(&database.tenant), number(&id), text(&record), number(&crc)];
    database.connection.execute(sql, &values)?;
    Ok(())
}

/// Returns the recorded operations before a number, the newest first.
pub(crate) fn before(
    database: Database<'_>,
    before: Option<OperationId>,
    limit: usize,
) -> Result<Operations> {
    let sql = "SELECT id, record, crc FROM forklore.operation
         WHERE tenant = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
    let (before, most) = (before.map_or(i64::MAX, |id| signed(id.0)), most(limit));
    let values = [text(&database.tenant), number(&before), number(&most)];
    let rows = database.connection.rows(sql, &values)?;
    let mut page = Operations { more: limit > 0 && rows.len() > limit, ..<_>::default() };
    for row in rows.iter().take(if limit == 0 { usize::MAX } else { limit }) {
        match read(row) {
            Ok(operation) => page.found.push(operation),
            Err(Fault::Store(damaged)) => page.damaged.push(damaged),
            Err(fault) => return Err(fault),
        }
    }
    Ok(page)
}

/// Returns how many rows to read for a page, one more than it shows. 0 means no limit.
pub(crate) fn most(limit: usize) -> i64 {
    if limit == 0 { i64::MAX } else { signed(limit as u64).saturating_add(1) }
}

/// Removes the labels and titles of erased sessions from the records.
pub(crate) fn forget(database: Database<'_>, erased: &[SessionId]) -> Result<()> {
    let sql = "SELECT o.id, o.record, o.crc FROM forklore.operation o
         WHERE o.tenant = $1 AND EXISTS (SELECT FROM unnest($2::text[]) AS n (id)
             WHERE position(n.id IN o.record) > 0)";
    let ids: Vec<_> = erased.iter().map(SessionId::as_str).collect();
    for row in database.connection.rows(sql, &[text(&database.tenant), texts(&ids)])? {
        // A damaged record hides itself only.
        let Ok(mut operation) = read(&row) else { continue };
        let outcomes = operation.outcomes.iter_mut();
        for outcome in outcomes.filter(|outcome| erased.contains(outcome.session())) {
            outcome.forget();
        }
        write(database, &operation)?;
    }
    Ok(())
}

/// Removes all but the newest records, and those that cannot be read.
pub(crate) fn retain(database: Database<'_>) -> Result<()> {
    let sql = "DELETE FROM forklore.operation WHERE tenant = $1 AND id <= (
             SELECT id FROM forklore.operation WHERE tenant = $1
             ORDER BY id DESC OFFSET $2 LIMIT 1)";
    let retained = signed(RETAINED_OPERATIONS as u64);
    database.connection.execute(sql, &[text(&database.tenant), number(&retained)])?;
    let sql = "SELECT id, record, crc FROM forklore.operation WHERE tenant = $1";
    for row in database.connection.rows(sql, &[text(&database.tenant)])? {
        if let Err(Fault::Store(_)) = read(&row) {
            let id: i64 = row.try_get(0)?;
            let sql = "DELETE FROM forklore.operation WHERE tenant = $1 AND id = $2";
            database.connection.execute(sql, &[text(&database.tenant), number(&id)])?;
        }
    }
    Ok(())
}

//! The log of operations (docs/semantics.md, Operations). One row contains a whole operation. Only
//! an import has several rows: each step after its first has a row of its own.

use std::collections::HashSet;

use forklore_core::SessionId;
use forklore_store::port::{Operation, OperationId, Operations, Outcome};
use forklore_store::rules::{Outcomes, RETAINED_OPERATIONS, Recorded, mark_undone};
use forklore_store::{Error, Result as StoreResult};
use rusqlite::{Connection, OptionalExtension as _};

use crate::crc::Fields;
use crate::fault::{Fault, Result};
use crate::integer::signed;
use crate::store::SqliteStore;
use crate::write_tx::WriteTx;

/// Number of low bits of a row's key that contain the number of the step. The other bits contain
/// the number of the operation.
const STEP_BITS: u32 = 24;

/// The row of one step of an operation.
struct Row {
    k: i64,
    body: String,
}

impl Row {
    fn of(k: i64, value: &impl serde::Serialize) -> Result<Self> {
        let body = serde_json::to_string(value).map_err(|error| Fault::damaged(name(k), &error))?;
        Ok(Self { k, body })
    }

    fn sum(&self) -> i64 {
        i64::from(Fields::default().number(Some(self.k)).bytes(Some(self.body.as_bytes())).sum())
    }

    fn save(&self, tx: &WriteTx<'_>) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO operation (k, body, crc) VALUES (?, ?, ?)";
        tx.write(sql, &[&self.k, &self.body, &self.sum()])?;
        Ok(())
    }

    /// Reads the row from the columns `k`, `body` and `crc`, and checks it.
    fn read(row: &rusqlite::Row<'_>) -> Result<Self> {
        let k = row.get(0)?;
        let body: rusqlite::Result<String> = row.get(1);
        let found = Self { k, body: body.map_err(|error| Fault::damaged(name(k), &error))? };
        let sum: rusqlite::Result<i64> = row.get(2);
        if sum.ok() != Some(found.sum()) {
            return Err(Fault::damaged(name(k), "its checksum does not match"));
        }
        Ok(found)
    }

    fn parsed<T: serde::de::DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_str(&self.body).map_err(|error| Fault::damaged(name(self.k), &error))
    }
}

fn name(k: i64) -> String {
    format!("operation row {}", k >> STEP_BITS)
}

fn id_of(k: i64) -> OperationId {
    OperationId(u64::try_from(k >> STEP_BITS).unwrap_or_default())
}

fn first_key(id: OperationId) -> i64 {
    signed(id.0).saturating_mul(1 << STEP_BITS)
}

fn last_key(id: OperationId) -> i64 {
    first_key(id) | ((1 << STEP_BITS) - 1)
}

/// Records what a transaction did: as a new operation, or as a further step of an import. Returns
/// the number of the operation.
pub(crate) fn record(tx: &WriteTx<'_>, recorded: Recorded<'_>) -> Result<OperationId> {
    if let Some(id) = recorded.operation.continues {
        let sql = "SELECT max(k) FROM operation WHERE k BETWEEN ? AND ?";
        let last: Option<i64> =
            tx.prepare_cached(sql)?.query_row([first_key(id), last_key(id)], |row| row.get(0))?;
        // An operation that is not retained any more gets no further outcomes.
        if let Some(last) = last {
            Row::of(last + 1, &recorded.outcomes)?.save(tx)?;
        }
        return Ok(id);
    }
    let last: Option<i64> =
        tx.prepare_cached("SELECT max(k) FROM operation")?.query_row([], |row| row.get(0))?;
    let id = OperationId(last.map_or(0, |k| id_of(k).0) + 1);
    if let Some(undone) = recorded.operation.undoes {
        mark_undone(undone, id, |id, change| {
            let Some(row) = find(tx, id)? else { return Ok(false) };
            let mut operation: Operation = row.parsed()?;
            change(&mut operation);
            Row::of(row.k, &operation)?.save(tx)?;
            Ok::<_, Fault>(true)
        })?;
    }
    Row::of(first_key(id), &recorded.into_operation(id, tx.now))?.save(tx)?;
    Ok(id)
}

/// Reads the first row of an operation. Returns `None` if there is no such row, or if its content
/// was erased.
fn find(conn: &Connection, id: OperationId) -> Result<Option<Row>> {
    let sql = "SELECT k, body, crc FROM operation WHERE k = ?";
    let found = conn
        .prepare_cached(sql)?
        .query_row([first_key(id)], |row| Ok(Row::read(row)))
        .optional()?
        .transpose()?;
    Ok(found.filter(|row| !row.body.is_empty()))
}

/// Returns the operations whose number is less than `before` (`None` means all), the newest first.
/// Returns at most `limit`, or all if `limit` is 0.
pub(crate) fn page(
    store: &SqliteStore,
    before: Option<OperationId>,
    limit: usize,
) -> StoreResult<Operations> {
    let limit = if limit == 0 { usize::MAX } else { limit };
    let (found, faults, more) = store.read_in_parts("reading", |conn, _, begin_part| {
        let (mut found, mut faults, mut last) = (Vec::new(), Vec::new(), before);
        loop {
            begin_part();
            let Some(id) = newest_before(conn, last)? else { return Ok((found, faults, false)) };
            if found.len() == limit {
                return Ok((found, faults, true));
            }
            match one(conn, id) {
                Ok(operation) => found.extend(operation),
                Err(fault) if fault.is_of_one_row() => faults.push(fault),
                Err(fault) => return Err(fault),
            }
            last = Some(id);
        }
    })?;
    let damaged = faults.into_iter().map(|fault| fault.about("reading", store.path())).collect();
    Ok(Operations { found, damaged, more })
}

fn newest_before(conn: &Connection, before: Option<OperationId>) -> Result<Option<OperationId>> {
    let sql = "SELECT max(k) FROM operation WHERE k < ?";
    let before = before.map_or(i64::MAX, first_key);
    let k: Option<i64> = conn.prepare_cached(sql)?.query_row([before], |row| row.get(0))?;
    Ok(k.map(id_of))
}

/// Reads an operation from all its rows. Returns `None` if there is none with this number, or if
/// its record was erased.
fn one(conn: &Connection, id: OperationId) -> Result<Option<Operation>> {
    let sql = "SELECT k, body, crc FROM operation WHERE k BETWEEN ? AND ? ORDER BY k";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([first_key(id), last_key(id)])?;
    let Some(first) = rows.next()? else { return Ok(None) };
    let first = Row::read(first)?;
    if first.k != first_key(id) {
        return Err(Fault::damaged(name(first.k), "its first row is missing"));
    }
    if first.body.is_empty() {
        return Ok(None);
    }
    let mut operation: Operation = first.parsed()?;
    let mut outcomes = Outcomes::default();
    outcomes.extend(std::mem::take(&mut operation.outcomes));
    while let Some(row) = rows.next()? {
        outcomes.extend(Row::read(row)?.parsed::<Vec<Outcome>>()?);
    }
    operation.outcomes = outcomes.into_vec();
    Ok(Some(operation))
}

/// Removes the labels and titles of erased sessions from the records of operations.
pub(crate) fn forget_names_of(tx: &WriteTx<'_>, erased: &HashSet<&SessionId>) -> Result<()> {
    // Only these outcomes have names.
    let named = "SELECT k, body, crc FROM operation
         WHERE instr(body, '\"outcome\":\"labelled\"') OR instr(body, '\"outcome\":\"renamed\"')";
    let mut changed = Vec::new();
    {
        let mut statement = tx.prepare_cached(named)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            tx.begin_part();
            // `gc` erases a damaged record.
            let Ok(row) = Row::read(row) else { continue };
            changed.extend(without_names(&row, erased)?);
        }
    }
    for row in &changed {
        row.save(tx)?;
    }
    if !changed.is_empty() {
        tx.write("UPDATE upkeep SET erased = 1", &[])?;
    }
    Ok(())
}

/// Returns the row without the labels and titles of erased sessions. Returns `None` if the row
/// contains none.
fn without_names(row: &Row, erased: &HashSet<&SessionId>) -> Result<Option<Row>> {
    let forget = |outcomes: &mut Vec<Outcome>| {
        let of_erased = outcomes.iter_mut().filter(|one| erased.contains(one.session()));
        of_erased.fold(false, |any, outcome| outcome.forget() | any)
    };
    if first_key(id_of(row.k)) == row.k {
        let mut operation: Operation = row.parsed()?;
        return forget(&mut operation.outcomes).then(|| Row::of(row.k, &operation)).transpose();
    }
    let mut outcomes: Vec<Outcome> = row.parsed()?;
    forget(&mut outcomes).then(|| Row::of(row.k, &outcomes)).transpose()
}

/// Removes all operations except the newest `RETAINED_OPERATIONS`. Also erases damaged records,
/// because they may contain labels or titles of erased sessions.
pub(crate) fn collect(tx: &WriteTx<'_>) -> Result<()> {
    let sql = "SELECT k FROM operation WHERE k & 16777215 = 0 ORDER BY k DESC LIMIT 1 OFFSET ?";
    let old: Option<i64> =
        tx.query_row(sql, [signed(RETAINED_OPERATIONS as u64)], |row| row.get(0)).optional()?;
    if let Some(old) = old {
        tx.write("DELETE FROM operation WHERE k <= ?", &[&last_key(id_of(old))])?;
    }
    for id in damaged(tx)? {
        let rows = "DELETE FROM operation WHERE k BETWEEN ? AND ?";
        tx.write(rows, &[&first_key(id), &last_key(id)])?;
        Row { k: first_key(id), body: String::new() }.save(tx)?;
        tx.write("UPDATE upkeep SET erased = 1", &[])?;
    }
    Ok(())
}

fn damaged(tx: &WriteTx<'_>) -> Result<Vec<OperationId>> {
    let (mut damaged, mut last) = (Vec::new(), None);
    while let Some(id) = newest_before(tx, last)? {
        tx.begin_part();
        match one(tx, id) {
            Ok(_) => {}
            Err(fault) if fault.is_of_one_row() => damaged.push(id),
            Err(fault) => return Err(fault),
        }
        last = Some(id);
    }
    Ok(damaged)
}

/// Checks all records of operations. Returns the errors of those that cannot be read.
///
/// # Errors
/// Those of [`page`].
pub(crate) fn check(store: &SqliteStore) -> StoreResult<Vec<Error>> {
    Ok(page(store, None, 0)?.damaged)
}

//! The tables of a database, and the steps that bring the tables of an older version up to date.

use forklore_store::Error;

use crate::connection::{Connection, number, text};
use crate::fault::{Fault, Result};
use crate::random;

/// The steps from an empty database to the present tables. A step never changes once it was
/// released; a new one is added.
const STEPS: &[&str] = &[include_str!("schema.sql")];

/// The version of the tables that this program writes.
const VERSION: i64 = STEPS.len() as i64;

/// Checks that this program knows the tables. Returns the identity of the tenant's store; `None` if
/// there is none. Writes nothing.
pub(crate) fn find(connection: &Connection, tenant: &str) -> Result<Option<String>> {
    let sql = "SELECT (SELECT max(version) FROM forklore.migration),
                      (SELECT id FROM forklore.store WHERE tenant = $1)";
    let found = match connection.row(sql, &[text(&tenant)]) {
        Err(fault) if fault.is_without_tables() => return Ok(None),
        found => found?,
    };
    let Some(row) = found else { return Ok(None) };
    let version: Option<i64> = row.try_get(0)?;
    match version {
        Some(version) if version > VERSION => Err(newer(version)),
        Some(VERSION) => Ok(row.try_get(1)?),
        _ => Ok(None),
    }
}

fn newer(version: i64) -> Fault {
    Fault::Store(Error::Unsupported(format!(
        "a newer version of forklore wrote these tables (version {version}, and this one knows \
         {VERSION})"
    )))
}

/// Creates the tables or brings them up to date, and adds the tenant's store. Several processes may
/// do so at once. Returns the identity of the store.
pub(crate) fn create(connection: &Connection, tenant: &str) -> Result<String> {
    if let Some(found) = find(connection, tenant)? {
        return Ok(found);
    }
    check_encoding(connection)?;
    if !is_current(connection)? {
        migrate(connection)?;
    }
    let sql = "INSERT INTO forklore.store (tenant, id) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    connection.execute(sql, &[text(&tenant), text(&random::hexadecimal()?)])?;
    let gone = || Error::StoreGone { location: format!("of the tenant {tenant}") };
    find(connection, tenant)?.ok_or_else(|| gone().into())
}

fn is_current(connection: &Connection) -> Result<bool> {
    match connection.row("SELECT max(version) FROM forklore.migration", &[]) {
        Err(fault) if fault.is_without_tables() => Ok(false),
        found => Ok(found?.and_then(|row| row.try_get(0).ok()).flatten() == Some(VERSION)),
    }
}

/// Performs the missing steps in one transaction. Others that migrate wait for its end.
fn migrate(connection: &Connection) -> Result<()> {
    let done = begin(connection).and_then(|from| {
        if from > VERSION {
            return Err(newer(from));
        }
        for (at, step) in STEPS.iter().enumerate().skip(usize::try_from(from).unwrap_or(0)) {
            connection.batch(step)?;
            let sql = "INSERT INTO forklore.migration (version) VALUES ($1)";
            connection.execute(sql, &[number(&(at as i64 + 1))])?;
        }
        connection.batch("COMMIT")
    });
    done.inspect_err(|_| drop(connection.batch("ROLLBACK")))
}

/// Begins the transaction of a migration. Returns the present version of the tables.
fn begin(connection: &Connection) -> Result<i64> {
    connection.batch("BEGIN")?;
    if let Err(fault) = connection.batch(
        "CREATE SCHEMA IF NOT EXISTS forklore;
         CREATE TABLE IF NOT EXISTS forklore.migration (
             version bigint PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())",
    ) {
        // Two processes created the same schema or table at once. The other one has done it.
        if !fault.is_of_race_to_create() {
            return Err(fault);
        }
        connection.batch("ROLLBACK; BEGIN")?;
    }
    connection.batch("LOCK TABLE forklore.migration IN ACCESS EXCLUSIVE MODE")?;
    let row = connection.row("SELECT coalesce(max(version), 0) FROM forklore.migration", &[])?;
    row.map_or(Ok(0), |row| Ok(row.try_get(0)?))
}

/// Refuses a database that cannot store every text.
fn check_encoding(connection: &Connection) -> Result<()> {
    let row = connection.row("SELECT current_setting('server_encoding')", &[])?;
    let encoding: String = row.map_or(Ok(String::new()), |row| row.try_get(0))?;
    if encoding == "UTF8" {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "the encoding of the database is {encoding}; create one with ENCODING 'UTF8'"
    ))
    .into())
}

//! The tables of a database, and the steps that bring the tables of an older version up to date.

use forklore_store::Error;
use sha2::{Digest, Sha256};
use tokio_postgres::Row;

use crate::connection::{Connection, number, text};
use crate::fault::{Fault, Result};
use crate::layout::{self, Layout};
use crate::login;
use crate::random;

/// The steps from an empty database to the present tables. A step never changes once it was
/// released; a new one is added.
const STEPS: &[&str] = &[include_str!("schema.sql"), include_str!("tenants.sql")];

/// The oldest version of PostgreSQL that is tested.
const OLDEST: u32 = 15;

/// The version of the tables that this program writes.
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// The store of a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) id: String,
    /// Whether Citus distributes the tables over several nodes.
    pub(crate) is_distributed: bool,
}

/// Returns 32 hexadecimal digits that follow from the identity of a store, and do not reveal it.
pub(crate) fn digits(identity: &str) -> String {
    let digest = Sha256::digest(identity.as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// What a database has of forklore.
enum State {
    Absent,
    /// Tables of this older version.
    Older(i64),
    /// Tables of this program's version, and the tenant's store if there is one.
    Current(Option<Identity>),
}

/// Checks that this program knows the tables. Returns the tenant's store; `None` if there is none.
/// Writes nothing.
pub(crate) fn find(connection: &Connection, tenant: &str) -> Result<Option<Identity>> {
    match state(connection, tenant)? {
        State::Absent => Ok(None),
        State::Older(version) => Err(older(version)),
        State::Current(found) => Ok(found),
    }
}

fn state(connection: &Connection, tenant: &str) -> Result<State> {
    match current(connection, tenant) {
        Ok(Some(state)) => return Ok(state),
        // The tables may be those of an older version, which were fewer.
        Err(fault) if !fault.is_without_tables() => return Err(fault),
        Ok(None) | Err(_) => {}
    }
    match version(connection)? {
        None => Ok(State::Absent),
        Some(version) if version > VERSION => Err(newer(version)),
        // Either somebody has just brought the tables up to date, or one of them is missing.
        Some(VERSION) => current(connection, tenant)?.ok_or_else(|| older(VERSION)),
        Some(version) => Ok(State::Older(version)),
    }
}

/// Returns the state if the tables have this program's version.
fn current(connection: &Connection, tenant: &str) -> Result<Option<State>> {
    let sql = format!(
        "SELECT (SELECT max(version) FROM forklore.migration),
                (SELECT id FROM forklore.store WHERE tenant = $1),
                EXISTS (SELECT FROM forklore.layout WHERE name = '{}'),
                {}, (SELECT min(tenant) FROM forklore.login WHERE login = session_user),
                session_user::text",
        layout::DISTRIBUTED,
        login::SEES_ALL
    );
    match connection.row(&sql, &[text(&tenant)])? {
        Some(row) if row.try_get::<_, Option<i64>>(0)? == Some(VERSION) => {
            Ok(Some(State::Current(identity(&row, tenant)?)))
        }
        _ => Ok(None),
    }
}

fn identity(row: &Row, tenant: &str) -> Result<Option<Identity>> {
    let (sees_all, given): (bool, Option<String>) = (row.try_get(3)?, row.try_get(4)?);
    let login: String = row.try_get(5)?;
    if !sees_all && given.as_deref() != Some(tenant) {
        return Err(login::refused(&login, given.as_deref(), tenant).into());
    }
    let (id, is_distributed): (Option<String>, bool) = (row.try_get(1)?, row.try_get(2)?);
    Ok(id.map(|id| Identity { id, is_distributed }))
}

/// Returns the version of the tables; `None` if there are none.
pub(crate) fn version(connection: &Connection) -> Result<Option<i64>> {
    match connection.row("SELECT max(version) FROM forklore.migration", &[]) {
        Err(fault) if fault.is_without_tables() => Ok(None),
        found => Ok(found?.map(|row| row.try_get(0)).transpose()?.flatten()),
    }
}

fn newer(version: i64) -> Fault {
    Fault::Store(Error::Unsupported(format!(
        "a newer version of forklore wrote these tables (version {version}, and this one knows \
         {VERSION})"
    )))
}

fn older(version: i64) -> Fault {
    let (found, needed) = (version.cast_unsigned(), VERSION.cast_unsigned());
    Fault::Store(Error::Outdated { found, needed })
}

/// Creates the tables or brings them up to date, and adds the tenant's store. Several processes may
/// do so at once.
pub(crate) fn create(connection: &Connection, tenant: &str, layout: Layout) -> Result<Identity> {
    match state(connection, tenant)? {
        State::Current(Some(found)) => return Ok(found),
        State::Current(None) => {}
        State::Absent => {
            check_server(connection)?;
            migrate(connection, layout)?;
        }
        State::Older(version) => migrate(connection, layout).map_err(|fault| {
            let is_denied = fault.is_of_privilege();
            if is_denied { older(version) } else { fault }
        })?,
    }
    let sql = "INSERT INTO forklore.store (tenant, id) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    connection.execute(sql, &[text(&tenant), text(&random::hexadecimal()?)])?;
    let gone = || Error::StoreGone { location: format!("of the tenant {tenant}") };
    find(connection, tenant)?.ok_or_else(|| gone().into())
}

/// Performs the missing steps in one transaction. Others that migrate wait for its end.
fn migrate(connection: &Connection, layout: Layout) -> Result<()> {
    let done = begin(connection).and_then(|from| {
        if from > VERSION {
            return Err(newer(from));
        }
        for (at, step) in STEPS.iter().enumerate().skip(usize::try_from(from).unwrap_or(0)) {
            connection.batch(&layout.of(step))?;
            if at == 0 {
                layout.divide(connection)?;
            }
            let sql = "INSERT INTO forklore.migration (version) VALUES ($1)";
            connection.execute(sql, &[number(&(at as i64 + 1))])?;
        }
        login::grant(connection)?;
        connection.batch("COMMIT")
    });
    done.inspect_err(|_| drop(connection.batch("ROLLBACK")))
}

/// Begins the transaction of a migration. Returns the present version of the tables.
fn begin(connection: &Connection) -> Result<i64> {
    connection.batch("BEGIN")?;
    // Only the creation needs the right to create schemas.
    if version_table(connection)?.is_none()
        && let Err(fault) = connection.batch(
            "CREATE SCHEMA IF NOT EXISTS forklore;
             CREATE TABLE IF NOT EXISTS forklore.migration (
                 version bigint PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())",
        )
    {
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

fn version_table(connection: &Connection) -> Result<Option<String>> {
    let row = connection.row("SELECT to_regclass('forklore.migration')::text", &[])?;
    row.map_or(Ok(None), |row| Ok(row.try_get(0)?))
}

/// Refuses a server that is too old, and a database that cannot store every text.
fn check_server(connection: &Connection) -> Result<()> {
    let sql = "SELECT current_setting('server_version_num'), current_setting('server_encoding')";
    let Some(row) = connection.row(sql, &[])? else { return Ok(()) };
    let (version, encoding): (String, String) = (row.try_get(0)?, row.try_get(1)?);
    let unsupported = unsupported(&version, &encoding);
    unsupported.map_or(Ok(()), |reason| Err(Error::Unsupported(reason).into()))
}

/// Returns why a server with this version, as PostgreSQL numbers them, and with this encoding of the
/// database cannot have a store.
fn unsupported(version: &str, encoding: &str) -> Option<String> {
    let major = version.parse::<u32>().map_or(0, |version| version / 10_000);
    if major < OLDEST {
        return Some(format!(
            "the server is PostgreSQL {major}; forklore needs version {OLDEST} or a later one"
        ));
    }
    (encoding != "UTF8").then(|| {
        format!("the encoding of the database is {encoding}; create one with ENCODING 'UTF8'")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_server_and_another_encoding_are_refused() {
        assert_eq!(unsupported("150013", "UTF8"), None);
        assert_eq!(unsupported("180003", "UTF8"), None);
        let old = "the server is PostgreSQL 13; forklore needs version 15 or a later one";
        assert_eq!(unsupported("130022", "UTF8").as_deref(), Some(old));
        let encoding = "the encoding of the database is LATIN1; create one with ENCODING 'UTF8'";
        assert_eq!(unsupported("150000", "LATIN1").as_deref(), Some(encoding));
    }
}

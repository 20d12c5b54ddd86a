//! The clock and the size of a store, and the space of what was erased.

use std::time::Duration;

use forklore_store::Error;
use jiff::Timestamp;
use tokio_postgres::Row;

use crate::connection::{Connection, text};
use crate::database::Database;
use crate::fault::Result;
use crate::number::{time, unsigned};

/// The query for the time of the server's clock.
pub(crate) const CLOCK: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8";

/// Returns the time of the server's clock.
pub(crate) fn now(connection: &Connection) -> Result<Timestamp> {
    time_of(connection.row(CLOCK, &[])?.as_ref())
}

/// Reads the answer to [`CLOCK`].
pub(crate) fn time_of(row: Option<&Row>) -> Result<Timestamp> {
    let micros: i64 = row.map_or(Ok(0), |row| row.try_get(0))?;
    Ok(time(micros).map_err(|error| Error::io("reading the clock", error))?)
}

/// How long the database may take for a table, whatever the deadline of a call is.
const VACUUM: Duration = Duration::from_secs(3600);

/// Lets the database reuse the space of erased rows. Others may go on writing; a table that another
/// process vacuums is skipped.
pub(crate) fn vacuum(connection: &Connection) -> Result<()> {
    let Connection { client, driver, .. } = connection;
    for table in ["event", "attachment_part", "source_step", "operation"] {
        let sql = format!("VACUUM (SKIP_LOCKED) forklore.{table}");
        driver.wait(VACUUM, client.batch_execute(&sql))?;
    }
    Ok(())
}

/// What counts as the size of a store: the texts and bytes of each table.
const SIZES: [(&str, &[&str]); 6] = [
    ("event", &["data", "id", "type", "calls"]),
    ("session", &["header", "metadata", "config"]),
    ("operation", &["record"]),
    ("source", &["record"]),
    ("source_step", &["spans"]),
    ("attachment_part", &["bytes"]),
];

/// Returns how many bytes of texts and payloads a tenant has, before the database compresses them.
pub(crate) fn size(database: Database<'_>) -> Result<u64> {
    let sizes = SIZES.map(|(table, columns)| {
        let columns = columns.iter().map(|column| format!("coalesce(octet_length({column}), 0)"));
        let columns: Vec<_> = columns.collect();
        let sum = format!("coalesce(sum({}), 0)", columns.join(" + "));
        format!("(SELECT {sum} FROM forklore.{table} WHERE tenant = $1)")
    });
    let sql = format!("SELECT ({})::int8", sizes.join(" + "));
    let row = database.connection.row(&sql, &[text(&database.tenant)])?;
    row.map_or(Ok(0), |row| Ok(unsigned(row.try_get(0)?)))
}

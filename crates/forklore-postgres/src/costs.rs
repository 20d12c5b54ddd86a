//! What the statements on the store's tables took in all, if the database counts it.

use forklore_core::tier::StatementCost;
use tokio_postgres::Row;

use crate::connection::Connection;
use crate::fault::Result;
use crate::number::unsigned;

/// The schema in which the extension is that counts statements.
const SCHEMA: &str = "SELECT quote_ident(n.nspname) FROM pg_extension e
    JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements'";

/// Returns the statements on rows, not those that create tables, that took the most time in all; `None` if the database does not count
/// them. A login that may not see the statements of others gets its own.
pub(crate) fn of(connection: &Connection) -> Result<Option<Vec<StatementCost>>> {
    let Some(row) = connection.row(SCHEMA, &[])? else { return Ok(None) };
    let schema: String = row.try_get(0)?;
    let sql = format!(
        "SELECT calls, total_exec_time / 1000, mean_exec_time / 1000, max_exec_time / 1000,
             left(regexp_replace(query, '\\s+', ' ', 'g'), 200)
         FROM {schema}.pg_stat_statements
         WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
           AND query LIKE '%forklore.%' AND query ~* '^\\s*(select|insert|update|delete|with)\\y'
         ORDER BY total_exec_time DESC LIMIT 10"
    );
    match connection.rows(&sql, &[]) {
        // The extension exists, but the server was not started with it, or it is too old.
        Err(fault) if fault.is_of_database() => Ok(None),
        found => found?.iter().map(cost).collect::<Result<_>>().map(Some),
    }
}

fn cost(row: &Row) -> Result<StatementCost> {
    Ok(StatementCost {
        calls: unsigned(row.try_get(0)?),
        total_seconds: row.try_get(1)?,
        mean_seconds: row.try_get(2)?,
        max_seconds: row.try_get(3)?,
        statement: row.try_get(4)?,
    })
}

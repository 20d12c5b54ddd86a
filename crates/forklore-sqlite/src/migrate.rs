//! Migrates a store's schema to the current version, step by step.

use std::path::Path;

use forklore_store::{Error, Result};
use rusqlite::Connection;

use crate::fault::Fault;

/// The `application_id` that marks an SQLite file as a store of forklore. Its bytes are the text
/// `Fork` in ASCII.
pub(crate) const APPLICATION_ID: i32 = 0x466f_726b;

/// The SQL of the migrations. `STEPS[n]` migrates a store from version n to version n + 1.
pub(crate) const STEPS: [&str; 5] = [
    concat!(include_str!("../schema/001.sql"), include_str!("../schema/001-sources.sql")),
    include_str!("../schema/002.sql"),
    include_str!("../schema/003.sql"),
    include_str!("../schema/004.sql"),
    include_str!("../schema/005.sql"),
];

/// The index in `STEPS` of the migration that adds the columns of the feed to the session table.
/// The feed is the sequence of changed sessions.
const WRITTEN: usize = 3;

/// The version of the database schema that this program writes.
pub(crate) const VERSION: usize = STEPS.len();

/// Reads the schema version from the store's file without checking that it is valid.
pub(crate) fn stored_version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get(0))
}

/// Returns the schema version of an open store.
///
/// # Errors
/// `Unsupported` if a newer version of forklore wrote the store; `Corrupt` if the number is not a
/// valid version.
pub(crate) fn version(conn: &Connection, path: &Path) -> Result<usize> {
    let found =
        stored_version(conn).map_err(|error| Fault::Sql(error).about("opening the store", path))?;
    match usize::try_from(found) {
        Ok(version) if (1..=VERSION).contains(&version) => Ok(version),
        Ok(0) | Err(_) => Err(Error::Corrupt {
            session: None,
            seq: None,
            location: path.display().to_string(),
            message: format!("no program gave it the version {found}"),
        }),
        _ => Err(Error::Unsupported(format!(
            "{} has the version {found} and this program knows up to {VERSION}; \
             use a newer forklore",
            path.display()
        ))),
    }
}

/// Checks, before a write, that the store still has the current version. A newer program may have
/// migrated it since this process opened it.
///
/// # Errors
/// `Unsupported` if the store has a newer version.
pub(crate) fn check(conn: &Connection, path: &Path) -> Result<(), Fault> {
    if usize::try_from(stored_version(conn)?) != Ok(VERSION) {
        version(conn, path)?;
    }
    Ok(())
}

/// Checks whether another program has migrated the store since this connection called
/// [`read_older`]. If so, the temporary tables and the view that `read_older` created do not fit
/// the store any more.
pub(crate) fn is_outdated(conn: &Connection) -> rusqlite::Result<bool> {
    let is_older = "SELECT EXISTS (SELECT 1 FROM temp.sqlite_schema)";
    if !conn.prepare_cached(is_older)?.query_row([], |row| row.get::<_, bool>(0))? {
        return Ok(false);
    }
    let read: i64 = conn.query_row("SELECT version FROM temp.read_as", [], |row| row.get(0))?;
    Ok(read != stored_version(conn)?)
}

/// Lets a connection read a store of an older version without changing that store. It creates empty
/// temporary tables for the tables that the older version lacks, and a temporary view that adds
/// missing columns. Only this connection sees them.
pub(crate) fn read_older(conn: &Connection) -> rusqlite::Result<()> {
    let Some(version) = usize::try_from(stored_version(conn)?).ok().filter(|version| *version > 0)
    else {
        return Ok(());
    };
    if version >= VERSION {
        return Ok(());
    }
    for (_, sql) in STEPS.iter().enumerate().skip(version).filter(|(step, _)| *step != WRITTEN) {
        conn.execute_batch(&sql.replace("CREATE TABLE", "CREATE TEMP TABLE"))?;
    }
    if version <= WRITTEN {
        conn.execute_batch(
            "CREATE TEMP VIEW session AS SELECT *, NULL AS feed_created, NULL AS feed_appended,
                 NULL AS feed_changed, NULL AS feed_until FROM main.session",
        )?;
    }
    conn.execute_batch("CREATE TEMP TABLE read_as (version INTEGER)")?;
    conn.execute("INSERT INTO temp.read_as VALUES (?)", [version as i64])?;
    Ok(())
}

/// Removes comments and line breaks from a migration. SQLite stores the text of each `CREATE TABLE`
/// as written, and parses it whenever a connection reads the schema.
fn without_comments(sql: &str) -> String {
    let lines = sql.lines().map(|line| line.split_once("--").map_or(line, |(code, _)| code).trim());
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Runs all migrations from version `from` to the current version in one transaction.
pub(crate) fn migrate(conn: &mut Connection, from: usize) -> Result<(), Fault> {
    let step = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Exclusive)?;
    for sql in STEPS.iter().skip(from) {
        step.execute_batch(&without_comments(sql))?;
    }
    step.pragma_update(None, "user_version", i64::try_from(VERSION).unwrap_or(i64::MAX))?;
    step.pragma_update(None, "application_id", APPLICATION_ID)?;
    step.commit()?;
    if from > 0 {
        tracing::info!(from, to = VERSION, "brought the store to a newer format");
    }
    Ok(())
}

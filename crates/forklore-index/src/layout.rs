//! What distinguishes one index from another: its file and its tables.

use rusqlite::Connection;

use crate::fault::Result;

/// The statements that create the tables of every index: `state` and `witness`.
const COMMON: &str = "
CREATE TABLE state (form TEXT NOT NULL, epoch INTEGER NOT NULL, mark TEXT);
CREATE TABLE witness (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, events INTEGER NOT NULL,
    updated TEXT NOT NULL, head INTEGER NOT NULL, event TEXT);
";

/// The description of a kind of index.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The name of the index's file in the cache folder. The names of SQLite's other files begin
    /// with it.
    pub file: &'static str,
    /// The version of the tables and of their contents. An index with another version is built
    /// again.
    pub form: &'static str,
    /// The statements that create the tables, except `state` and `witness`.
    pub tables: &'static str,
    /// The statements that remove all rows from these tables.
    pub clear: &'static str,
}

impl Layout {
    /// Creates the tables. First removes the tables of another version, if there are any.
    ///
    /// # Errors
    /// `Sql` if SQLite fails.
    pub fn make(&self, conn: &Connection) -> Result<()> {
        // Another process may have created them before this one got the lock.
        if form(conn)?.as_deref() == Some(self.form) {
            return Ok(());
        }
        // A virtual table removes its own tables, which then must not be removed again.
        drop_tables(conn, "sql LIKE 'CREATE VIRTUAL%'")?;
        drop_tables(conn, "TRUE")?;
        conn.execute_batch(COMMON)?;
        conn.execute_batch(self.tables)?;
        conn.execute("INSERT INTO state (form, epoch) VALUES (?, 0)", [self.form])?;
        Ok(())
    }

    /// Empties the index, because it belongs to another store or to a later state of this one.
    pub(crate) fn empty(&self, conn: &Connection) -> Result<()> {
        conn.execute_batch(self.clear)?;
        conn.execute_batch(
            "DELETE FROM witness; UPDATE state SET epoch = epoch + 1, mark = NULL;",
        )?;
        Ok(())
    }
}

fn drop_tables(conn: &Connection, condition: &str) -> Result<()> {
    let sql = format!(
        "SELECT name FROM sqlite_schema
         WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND {condition}"
    );
    let mut statement = conn.prepare(&sql)?;
    let tables: Vec<String> =
        statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for table in tables {
        conn.execute_batch(&format!("DROP TABLE \"{}\"", table.replace('"', "\"\"")))?;
    }
    Ok(())
}

/// Returns the version of the index's tables, or `None` if the index has no tables yet.
pub(crate) fn form(conn: &Connection) -> Result<Option<String>> {
    let sql = "SELECT 1 FROM sqlite_schema WHERE name = 'state'";
    if !conn.prepare_cached(sql)?.exists([])? {
        return Ok(None);
    }
    Ok(Some(conn.query_row("SELECT form FROM state", [], |row| row.get(0))?))
}

//! Lets a fuzzer run the code that reads rows. The columns may have any values, and the checksums
//! match them.

use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, ToSql, params_from_iter};

pub use rusqlite::types::Value;

use forklore_store::port::Direction;

use crate::migrate;
use crate::row::Each;
use crate::row_key::Next;
use crate::{chunk, row, session};

/// The columns of the table `event` except the key and the checksum, in the order of
/// `row::COLUMNS`.
const EVENT: &str = "id, ts, type, class, dialect, kept, idx, turns, bytes, open, starts_turn, \
    calls, origin_session, origin_seq, payload";
const SESSION_COLUMNS: usize = 57;
const CHUNK_COLUMNS: usize = 14;

/// An in-memory database with the tables of a store, but without their constraints on values.
#[derive(Debug)]
pub struct Tables(Connection);

impl Tables {
    /// Creates an empty in-memory database with the tables of a store.
    ///
    /// # Errors
    /// If SQLite runs out of memory.
    pub fn new() -> rusqlite::Result<Self> {
        let conn = Connection::open_in_memory()?;
        for sql in migrate::STEPS {
            // The readers need only the tables and the order of the columns, so the constraints are
            // removed.
            let sql = sql.replace("IS NOT NULL", "NOTNULL").replace("NOT NULL", "");
            conn.execute_batch(&sql)?;
        }
        conn.execute("INSERT INTO dialect VALUES (1, 'plain')", [])?;
        Ok(Self(conn))
    }

    /// Inserts an event row with these values, reads it with and without its payload, and rolls
    /// back. Ignores errors.
    pub fn event(&self, values: &[Value]) {
        let marks = ["?"; 15].join(", ");
        let sql = format!("INSERT INTO event (k, {EVENT}, crc) VALUES (4294967296, {marks}, 0)");
        let read = |conn: &Connection| {
            conn.prepare_cached(&sql)?.execute(padded(values, 15))?;
            let sql = format!("SELECT {}, payload FROM event", row::COLUMNS);
            let sums = conn.query_row(&sql, [], |found| Ok(row::sums(found)))?;
            conn.execute("UPDATE event SET crc = ?", [sums.unwrap_or_default()])?;
            let mut statement = conn.prepare(&sql)?;
            let mut rows = statement.query([])?;
            while let Some(found) = rows.next()? {
                let _ = (row::read(found, true), row::read(found, false));
            }
            Ok(())
        };
        self.undone(read);
    }

    /// Inserts a session row with these values, reads it, and rolls back. Ignores errors.
    pub fn session(&self, values: &[Value]) {
        let marks = vec!["?"; SESSION_COLUMNS].join(", ");
        let sql = format!("INSERT INTO session VALUES ({marks})");
        let read = |conn: &Connection| {
            conn.prepare_cached(&sql)?.execute(padded(values, SESSION_COLUMNS))?;
            let sql = session::select("");
            let sums = conn.query_row(&sql, [], |found| Ok(session::sums(found)))?;
            let (identity, state, note) = sums.unwrap_or_default();
            conn.execute("UPDATE session SET identity_crc = ?", [identity])?;
            conn.execute("UPDATE session SET crc = ?, note_crc = ?", [Some(state), note])?;
            let mut statement = conn.prepare(&sql)?;
            let mut rows = statement.query([])?;
            while let Some(found) = rows.next()? {
                let _ = session::read(conn, found, true);
            }
            Ok(())
        };
        self.undone(read);
    }

    /// Inserts a chunk row with these values, reads it in part and as a whole, and rolls back.
    /// Ignores errors.
    pub fn chunk(&self, values: &[Value]) {
        let marks = vec!["?"; CHUNK_COLUMNS].join(", ");
        let sql = format!("INSERT INTO chunk VALUES ({marks})");
        let read = |conn: &Connection| {
            conn.prepare_cached(&sql)?.execute(padded(values, CHUNK_COLUMNS))?;
            for direction in [Direction::Forward, Direction::Backward] {
                let mut statement = chunk::prepare(conn, direction)?;
                let everything = [i64::MIN, i64::MIN, i64::MAX];
                let mut rows = statement.query(everything)?;
                let Some(found) = rows.next()? else { return Ok(()) };
                let sum = chunk::sum_of(found).unwrap_or_default();
                drop(rows);
                conn.execute("UPDATE chunk SET crc = ?", [sum])?;
                let mut rows = statement.query(everything)?;
                while let Some(found) = rows.next()? {
                    for requested in [0x0f0f, u64::MAX] {
                        let chunk = chunk::read(found, |_| requested)
                            .and_then(|chunk| chunk.with_payloads(&mut chunk::Bodies::of(conn)));
                        if let Ok(chunk) = chunk {
                            let _ = chunk.visit(direction, &mut Each(|_| Ok(Next::Row)));
                        }
                    }
                }
            }
            Ok(())
        };
        self.undone(read);
    }

    /// Runs `read` in a transaction of SQLite, and then rolls back everything that it wrote.
    fn undone(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<()>) {
        if let Ok(step) = self.0.unchecked_transaction() {
            // Ignore errors: a row that SQLite itself refuses is not a test case.
            let _ = read(&step);
        }
    }
}

fn padded(values: &[Value], count: usize) -> impl rusqlite::Params {
    let values = values.iter().cloned().chain(std::iter::repeat(Value::Null)).take(count);
    params_from_iter(values.map(Owned))
}

struct Owned(Value);

impl ToSql for Owned {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Owned(self.0.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_of_the_tables_gets_a_value() {
        let tables = Tables::new().unwrap();
        let count = |table: &str| -> i64 {
            let sql = "SELECT count(*) FROM pragma_table_info(?)";
            tables.0.query_row(sql, [table], |row| row.get(0)).unwrap()
        };
        assert_eq!((count("event"), count("session")), (17, SESSION_COLUMNS as i64));
        assert_eq!(count("chunk"), CHUNK_COLUMNS as i64);
        tables.event(&[]);
        tables.chunk(&[Value::Integer(1), Value::Integer(2)]);
        tables.session(&[Value::Integer(1), Value::Text("a".into())]);
    }
}

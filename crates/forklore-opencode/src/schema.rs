//! The columns of the tables in opencode's database, which differ between versions of opencode.

use forklore_core::session_container::ExpandError;
use rusqlite::Connection;

/// The tables of opencode's database, each with the columns that this crate needs.
const NEEDED: [(&str, &[&str]); 3] = [
    ("session", &["id", "time_created"]),
    ("message", &["id", "session_id", "time_created", "data"]),
    ("part", &["id", "message_id", "session_id", "time_created", "data"]),
];

/// The columns of an opencode database that differ between versions of opencode.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schema {
    pub(crate) session: Vec<String>,
    /// Whether the tables `message` and `part` have the column `time_updated`.
    updated: bool,
}

impl Schema {
    /// Returns the name of the column that contains the time of the last change of a message or
    /// part. If the database has no such column, returns the column with the creation time.
    pub(crate) fn updated(&self) -> &'static str {
        if self.updated { "time_updated" } else { "time_created" }
    }

    /// Reads from a database which columns its tables have. Fails if a needed table or column is
    /// missing.
    pub(crate) fn of(database: &Connection) -> Result<Self, ExpandError> {
        let mut tables = Vec::new();
        for (table, needed) in NEEDED {
            let columns = columns(database, table).map_err(unreadable)?;
            if let Some(missing) = needed.iter().find(|name| !columns.iter().any(|c| c == *name)) {
                return Err(ExpandError::UnknownVersion(match columns.is_empty() {
                    true => format!("not a database of opencode's: it has no table {table:?}"),
                    false => format!(
                        "a version of opencode's database that is not known: its table {table:?} has no column {missing:?}"
                    ),
                }));
            }
            tables.push(columns);
        }
        let updated = tables.iter().skip(1).all(|table| table.iter().any(|c| c == "time_updated"));
        Ok(Self { session: tables.swap_remove(0), updated })
    }
}

fn columns(database: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut query = database.prepare("SELECT name FROM pragma_table_info(?) ORDER BY cid")?;
    query.query_map([table], |row| row.get(0))?.collect()
}

/// Converts an SQLite error to [`ExpandError::Unreadable`].
pub(crate) fn unreadable(error: rusqlite::Error) -> ExpandError {
    let what = format!("the database cannot be read: {error}");
    ExpandError::Unreadable { what, source: Some(Box::new(error)) }
}

//! The columns of the tables in opencode's database, which differ between versions of opencode.

use forklore_core::session_container::ExpandError;
use rusqlite::Connection;

/// The tables of opencode's database, each with the columns that this crate needs.
const NEEDED: [(&str, &[&str]); 3] = [
    ("session", &["id", "time_created"]),
    ("message", &["id", "session_id", "time_created", "data"]),
    ("part", &["id", "message_id", "session_id", "time_created", "data"]),
];

/// The table with the messages of opencode's second version, and the columns that this crate needs.
const JOURNAL: (&str, [&str; 7]) = (
    "session_message",
    ["id", "session_id", "type", "seq", "time_created", "time_updated", "data"],
);

/// The `application_id` of an SQLite store of forklore.
const FORKLORE: i32 = i32::from_be_bytes(*b"Fork");
/// The maximum number of tables of another program's database that an error names.
const SHOWN: usize = 5;

/// The columns of an opencode database that differ between versions of opencode.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schema {
    pub(crate) session: Vec<String>,
    /// Whether the tables `message` and `part` have the column `time_updated`.
    updated: bool,
    /// Whether the database has a table with the messages of opencode's second version.
    pub(crate) has_journal: bool,
}

impl Schema {
    /// Returns the name of the column that contains the time of the last change of a message or
    /// part. If the database has no such column, returns the column with the creation time.
    pub(crate) fn updated(&self) -> &'static str {
        if self.updated { "time_updated" } else { "time_created" }
    }

    /// Reads the names of the columns of a database's tables. Fails if a needed table or column is
    /// missing.
    pub(crate) fn of(database: &Connection) -> Result<Self, ExpandError> {
        let mut tables = Vec::new();
        for (table, _) in NEEDED {
            tables.push(columns(database, table).map_err(unreadable)?);
        }
        if tables.iter().any(Vec::is_empty) {
            return Err(ExpandError::UnknownVersion(foreign(database).map_err(unreadable)?));
        }
        for ((table, needed), columns) in NEEDED.iter().zip(&tables) {
            if let Some(missing) = needed.iter().find(|name| !columns.iter().any(|c| c == *name)) {
                return Err(ExpandError::UnknownVersion(format!(
                    "a version of opencode's database that is not known: its table {table:?} has no column {missing:?}"
                )));
            }
        }
        let updated = tables.iter().skip(1).all(|table| table.iter().any(|c| c == "time_updated"));
        let (table, needed) = JOURNAL;
        let journal = columns(database, table).map_err(unreadable)?;
        let has_journal = needed.iter().all(|name| journal.iter().any(|column| column == name));
        Ok(Self { session: tables.swap_remove(0), updated, has_journal })
    }
}

fn columns(database: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut query = database.prepare("SELECT name FROM pragma_table_info(?) ORDER BY cid")?;
    query.query_map([table], |row| row.get(0))?.collect()
}

/// Describes a database that lacks a table of opencode. Such a database is a store of forklore or
/// belongs to another program. For another program, the description names the first tables.
fn foreign(database: &Connection) -> rusqlite::Result<String> {
    let application: i32 = database.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    if application == FORKLORE {
        return Ok("the database is a store of forklore, not an agent's file".to_owned());
    }
    let mut query = database.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'
         ORDER BY rowid",
    )?;
    let tables: Vec<String> = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let shown: Vec<_> = tables.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
    let more = if tables.len() > SHOWN { ", ..." } else { "" };
    let tables = match shown.as_slice() {
        [] => "it has no tables".to_owned(),
        shown => format!("its tables are {}{more}", shown.join(", ")),
    };
    Ok(format!(
        "the database is that of another program ({tables}); of databases, only opencode's is supported"
    ))
}

/// Converts an SQLite error to [`ExpandError::Unreadable`].
pub(crate) fn unreadable(error: rusqlite::Error) -> ExpandError {
    let what = format!("the database cannot be read: {error}");
    ExpandError::Unreadable { what, source: Some(Box::new(error)) }
}

//! Finds data that no session refers to, by looking at the store's files directly.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::kind::Kind;

/// Returns the data in the store's files that no session owns. Killed writers leave such data;
/// after a garbage collection there must be none.
///
/// # Errors
/// If the store's files cannot be read.
pub fn unowned(kind: Kind, dir: &Path) -> Result<Vec<String>, String> {
    match kind {
        Kind::Sqlite => events_of_nobody(&dir.join("store.db")).map_err(|error| error.to_string()),
        Kind::Files => {
            let files = files(dir).map_err(|error| error.to_string())?.into_iter();
            let unfinished = files.filter(|path| path.extension().is_some_and(|it| it == "new"));
            Ok(unfinished.map(|path| path.display().to_string()).collect())
        }
    }
}

fn events_of_nobody(store: &Path) -> rusqlite::Result<Vec<String>> {
    let conn = Connection::open_with_flags(store, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let sql = "SELECT k >> 32, count(*) FROM (SELECT k FROM event UNION ALL SELECT k FROM chunk)
        WHERE k >> 32 NOT IN
        (SELECT sid FROM session UNION SELECT id FROM private_segment WHERE heartbeat IS NULL)
        GROUP BY 1";
    let mut statement = conn.prepare(sql)?;
    let found = statement.query_map([], |row| {
        let (segment, rows): (i64, i64) = (row.get(0)?, row.get(1)?);
        Ok(format!("{rows} rows of segment {segment}, which is nobody's"))
    })?;
    found.collect()
}

/// Returns the paths of all files in the directory and its subdirectories.
///
/// # Errors
/// The errors of the operating system.
pub(super) fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

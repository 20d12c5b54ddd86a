#![allow(unsafe_code, reason = "SQLite's files are an interface of C")]

use std::ffi::{c_int, c_void};

use rusqlite::{Connection, Error, Result, ffi};

/// A file of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum File {
    /// The database.
    Database,
    /// Its write-ahead log.
    Wal,
}

/// Makes everything durable that was written to the file, by whomever.
///
/// # Errors
/// `SqliteFailure`: that of the VFS; `SQLITE_MISUSE` where the file is not open, as the WAL is
/// before the connection has read anything.
pub(crate) fn sync(conn: &Connection, file: File) -> Result<()> {
    let pointer = match file {
        File::Database => ffi::SQLITE_FCNTL_FILE_POINTER,
        File::Wal => ffi::SQLITE_FCNTL_JOURNAL_POINTER,
    };
    let mut found: *mut ffi::sqlite3_file = std::ptr::null_mut();
    // SAFETY: the handle is that of an open connection and is not kept. Both operations write one
    // pointer of this type to where the last argument points.
    let code = unsafe {
        let out = (&raw mut found).cast::<c_void>();
        ffi::sqlite3_file_control(conn.handle(), c"main".as_ptr(), pointer, out)
    };
    if code != ffi::SQLITE_OK {
        return Err(failure(code));
    }
    if found.is_null() {
        return Err(failure(ffi::SQLITE_MISUSE));
    }
    // SAFETY: the file belongs to the connection, which is borrowed and used by no other thread
    // (`Connection` is not `Sync`), so it stays as it is until this function returns. A file that
    // is not open has no methods; one that is has those of the first version at least, `xSync`
    // among them.
    let code = unsafe {
        match (*found).pMethods.as_ref().and_then(|methods| methods.xSync) {
            Some(sync) => sync(found, ffi::SQLITE_SYNC_NORMAL),
            None => ffi::SQLITE_MISUSE,
        }
    };
    if code == ffi::SQLITE_OK { Ok(()) } else { Err(failure(code)) }
}

fn failure(code: c_int) -> Error {
    Error::SqliteFailure(ffi::Error::new(code), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_synced_once_they_are_open() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        let made = Connection::open(&path).unwrap();
        made.pragma_update(None, "journal_mode", "WAL").unwrap();
        made.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)").unwrap();
        assert_eq!(sync(&made, File::Wal), Ok(()));

        let other = Connection::open(&path).unwrap();
        assert_eq!(sync(&other, File::Wal), Err(failure(ffi::SQLITE_MISUSE)));
        other.query_row("SELECT x FROM t", [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(sync(&other, File::Wal), Ok(()));
        assert_eq!(sync(&other, File::Database), Ok(()));
    }

    #[test]
    fn a_database_in_memory_has_nothing_to_sync() {
        let conn = Connection::open_in_memory().unwrap();
        assert_eq!(sync(&conn, File::Wal), Err(failure(ffi::SQLITE_MISUSE)));
    }
}

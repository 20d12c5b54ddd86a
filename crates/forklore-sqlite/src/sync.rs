//! Syncs a file of an open database, through the file handle that SQLite itself uses.

#![allow(unsafe_code, reason = "SQLite's files are an interface of C")]

use std::ffi::{c_int, c_void};

use rusqlite::{Connection, Error, Result, ffi};

/// One of the files of a database, to be synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum File {
    /// The database file.
    Database,
    /// The WAL of the database.
    Wal,
}

/// Syncs a file of the database: everything that any process has written to the file becomes
/// durable.
///
/// # Errors
/// `SqliteFailure` with the error code of the VFS, or with `SQLITE_MISUSE` if the file is not open.
/// SQLite opens the WAL only at the connection's first read.
pub(crate) fn sync(conn: &Connection, file: File) -> Result<()> {
    let pointer = match file {
        File::Database => ffi::SQLITE_FCNTL_FILE_POINTER,
        File::Wal => ffi::SQLITE_FCNTL_JOURNAL_POINTER,
    };
    let mut found: *mut ffi::sqlite3_file = std::ptr::null_mut();
    // SAFETY: the handle belongs to an open connection and is not used after this call. Both
    // operations write one pointer of this type to the address in the last argument.
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
    // (`Connection` is not `Sync`), so it does not change until this function returns. A file that
    // is not open has no methods; an open one has at least those of version 1, including `xSync`.
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

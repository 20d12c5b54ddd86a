//! Opens the file of a store, and creates it if it does not exist.

use std::fs::File;
use std::path::Path;

use crate::sync::File as Synced;
use forklore_store::disk::{self, Gate, Pass, os, with_suffix};
use forklore_store::{Error, Result};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::fault::Fault;
use crate::migrate::{self, VERSION};
use crate::path_safety;
use crate::steps::{Budget, Steps};
use crate::store::Options;

/// Maximum number of prepared SQL statements that each connection caches.
const STATEMENTS: usize = 96;
/// Page size of a new store, in bytes. The records of agents have 2 KB on average. With pages of 4
/// KB, a third of the file would be unused, and an import would take a third longer.
const PAGE_BYTES: u32 = 8 << 10;
/// Size of the page cache of the writing connection, in KiB. It is large enough for the pages of
/// one transaction. With a smaller cache, SQLite would write some of these pages to the WAL twice.
const CACHE_KIB: u32 = 16 << 10;
/// Maximum number of bytes of the database file that a reading connection maps into memory. Mapped
/// pages need no system call and no page cache. Mapping is safe: only checkpoints truncate the
/// file, and never below the size that a reader's snapshot needs.
const MAPPED_BYTES: i64 = 1 << 30;
/// After a reading connection has read this many bytes of payloads, it unmaps the file if the file
/// is larger than this number. Mapped pages count as memory of the process. Without this, a read of
/// a long session would seem to need as much memory as the session has bytes. The operating system
/// still has the pages in its cache.
pub(crate) const MAPPED_BYTES_LIMIT: usize = 128 << 20;
/// SQLite's name of the journal mode that every store uses. In this mode, SQLite writes each change
/// to a WAL first.
const WAL: &str = "wal";
/// SQLite's setting `journal_size_limit`, in bytes. When SQLite begins to overwrite the WAL from
/// its start, it truncates the WAL only if the WAL is larger than this. The WAL usually reaches
/// about this size before a checkpoint ends, and the next commits overwrite it without growing the
/// file.
const WAL_BYTES: i64 = 96 << 20;

/// How a connection accesses the store's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Write,
    Read,
    /// Reads only the database file, without the WAL, and assumes that no process writes to the
    /// file. Used if SQLite cannot open the store otherwise because the folder is not writable, and
    /// for a health check of a store whose WAL is empty.
    Frozen,
}

/// Creates a store of the current version in the file `path`, unless the file exists.
///
/// # Errors
/// `Corrupt` if the file is gone and something that belongs to it is still there.
pub(crate) fn prepare(path: &Path, gate: &Gate, options: Options) -> Result<()> {
    if !path_safety::check(path)? {
        disk::make_folder(disk::folder_of(path))?;
        let _passed = gate.pass(Pass::Exclusive, options.wait)?;
        // Another process may have created the store before this one got the gate.
        if !path_safety::check(path)? {
            refuse_remains(path)?;
            make(path, options.vfs)?;
        }
    }
    Ok(())
}

/// Checks that nothing remains of a store whose file `path` does not exist. A new store in its
/// place would hide that the earlier one was lost.
///
/// # Errors
/// `Corrupt` if changes in a WAL or attachments remain.
pub(crate) fn refuse_remains(path: &Path) -> Result<()> {
    let wal = with_suffix(path, "-wal");
    let attachments = with_suffix(path, "-attachments");
    let has_changes = std::fs::metadata(&wal).is_ok_and(|wal| wal.len() > 0);
    let has_files = || std::fs::read_dir(&attachments).is_ok_and(|mut all| all.next().is_some());
    let remains = match (has_changes, has_files()) {
        (true, _) => wal,
        (false, true) => attachments,
        (false, false) => return Ok(()),
    };
    let message = format!("the file is gone, but {} is there", remains.display());
    let location = path.display().to_string();
    Err(Error::Corrupt { session: None, seq: None, location, message })
}

/// Migrates a store of an older version to the current one, and switches it to WAL mode.
pub(crate) fn upgrade(path: &Path, gate: &Gate, options: Options) -> Result<()> {
    let mut conn = open(path, Access::Write, options)?;
    let _passed = gate.pass(Pass::Exclusive, options.wait)?;
    let failed = |fault: Fault| fault.about("bringing the store to a new version", path);
    Budget::of(&Steps::of(path)).bind(&mut conn).map_err(Fault::Sql).map_err(failed)?;
    begin_wal(&conn).map_err(failed)?;
    let version = migrate::version(&conn, path)?;
    if version < VERSION {
        migrate::migrate(&mut conn, version).map_err(failed)?;
    }
    crate::sync::sync(&conn, Synced::Wal).map_err(Fault::Sql).map_err(failed)
}

/// Switches the database to WAL mode.
fn begin_wal(conn: &Connection) -> Result<(), Fault> {
    // The first row is the journal mode that is in effect, also if SQLite could not switch. If
    // there was an error, SQLite reports it only after that row.
    let mut statement = conn.prepare("PRAGMA journal_mode = WAL")?;
    let (mut rows, mut stored) = (statement.query([])?, String::new());
    while let Some(row) = rows.next()? {
        stored = row.get(0)?;
    }
    if stored == WAL {
        return Ok(());
    }
    let unchanged_mode = std::io::Error::other(format!("SQLite keeps the journal mode {stored}"));
    Err(Error::io("beginning a WAL", unchanged_mode).into())
}

/// Checks whether the database uses a WAL. If not, the creation of the store did not finish.
pub(crate) fn has_wal(conn: &Connection, path: &Path) -> Result<bool> {
    let mode = conn.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0));
    let mode = mode.map_err(|error| Fault::Sql(error).about("opening the store", path))?;
    Ok(mode == WAL)
}

/// Creates a store under a temporary name, and then renames the complete file to `path`. Other
/// processes therefore never see an incomplete store.
fn make(path: &Path, vfs: Option<&str>) -> Result<()> {
    let new = with_suffix(path, "-new");
    let doing = "making the store";
    if let Err(error) = std::fs::remove_file(&new)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        return Err(os(doing, &new)(error));
    }
    private_file(&new).map_err(os(doing, &new))?;
    let made = connect(&new, flags(Access::Write), vfs).map_err(Fault::Sql).and_then(|mut conn| {
        conn.pragma_update(None, "page_size", PAGE_BYTES)?;
        migrate::migrate(&mut conn, 0)?;
        begin_wal(&conn)?;
        conn.close().map_err(|(_, error)| Fault::Sql(error))
    });
    made.map_err(|fault| fault.about(doing, &new))?;
    let synced = File::open(&new)
        .and_then(|file| file.sync_all())
        .and_then(|()| std::fs::rename(&new, path))
        .and_then(|()| File::open(disk::folder_of(path))?.sync_all());
    synced.map_err(os(doing, path))
}

pub(crate) fn private_file(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().write(true).create_new(true).mode(0o600).open(path)
}

fn flags(access: Access) -> OpenFlags {
    let common = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    match access {
        Access::Write => common | OpenFlags::SQLITE_OPEN_READ_WRITE,
        Access::Read | Access::Frozen => common | OpenFlags::SQLITE_OPEN_READ_ONLY,
    }
}

fn connect(path: &Path, flags: OpenFlags, vfs: Option<&str>) -> rusqlite::Result<Connection> {
    match vfs {
        Some(vfs) => Connection::open_with_flags_and_vfs(path, flags, vfs),
        None => Connection::open_with_flags(path, flags),
    }
}

/// Opens a connection to the store at `path`. A commit through it is durable only after the next
/// sync of the WAL.
pub(crate) fn open(path: &Path, access: Access, options: Options) -> Result<Connection> {
    let opened = match access {
        Access::Frozen => connect(Path::new(&frozen(path)?), flags(access), options.vfs),
        _ => connect(path, flags(access), options.vfs),
    };
    let set = |conn: Connection| {
        conn.busy_timeout(options.wait)?;
        conn.set_prepared_statement_cache_capacity(STATEMENTS);
        // Query plans must not depend on bound values. Otherwise SQLite would prepare a cached
        // statement again for each use.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        if options.read_only {
            migrate::read_older(&conn)?;
        }
        if access != Access::Write {
            conn.execute_batch(&format!("PRAGMA mmap_size = {MAPPED_BYTES};"))?;
        }
        if access == Access::Write {
            conn.execute_batch(&format!(
                "PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;
                 PRAGMA cache_size = -{CACHE_KIB}; PRAGMA wal_autocheckpoint = 0;
                 PRAGMA journal_size_limit = {WAL_BYTES};"
            ))?;
        }
        Ok(conn)
    };
    opened.and_then(set).map_err(|error| Fault::Sql(error).about("opening the store", path))
}

/// Gives back the pages of the file that a reading connection has mapped into memory, if the file
/// has more than `most` bytes. The next read maps it again.
pub(crate) fn give_back_mapped(conn: &Connection, most: usize) -> rusqlite::Result<()> {
    let number = |pragma| conn.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let bytes = number("page_count")?.saturating_mul(number("page_size")?);
    if usize::try_from(bytes).is_ok_and(|bytes| bytes <= most) {
        return Ok(());
    }
    conn.execute_batch(&format!("PRAGMA mmap_size = 0; PRAGMA mmap_size = {MAPPED_BYTES};"))
}

/// Returns a URI with which SQLite opens only the database file, for a folder that is not writable.
/// There SQLite could not create the `-wal` and `-shm` files.
///
/// # Errors
/// `Denied` if a WAL exists and is not empty.
fn frozen(path: &Path) -> Result<String> {
    let wal = with_suffix(path, "-wal");
    if std::fs::metadata(&wal).is_ok_and(|wal| wal.len() > 0) {
        let (path, wal) = (path.display(), wal.display());
        return Err(Error::Denied(format!(
            "{path} may only be read, and {wal} holds changes that were not written back"
        )));
    }
    let encoded = path.to_string_lossy().bytes().fold(String::from("file:"), |mut uri, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
        uri
    });
    Ok(encoded + "?immutable=1")
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;
    use crate::{SqliteStore, session};

    #[test]
    fn sqlite_is_new_enough_and_set_to_lose_nothing() {
        // Before 3.51.3, a reset of the WAL could lose committed data.
        assert!(rusqlite::version_number() >= 3_051_003, "{}", rusqlite::version());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        SqliteStore::open(&path, Options::default()).unwrap();
        let conn = open(&path, Access::Write, Options::default()).unwrap();
        let pragma = |name: &str| -> rusqlite::types::Value {
            conn.pragma_query_value(None, name, |row| row.get(0)).unwrap()
        };
        assert_eq!(pragma("journal_mode"), "wal".to_owned().into());
        assert_eq!(pragma("synchronous"), 1.into());
        assert_eq!(pragma("secure_delete"), 1.into());
        assert_eq!(pragma("mmap_size"), 0.into());
        assert_eq!(pragma("busy_timeout"), 5_000.into());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn mapped_pages_of_a_large_file_are_given_back_and_mapped_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        SqliteStore::open(&path, Options::default()).unwrap();
        let conn = open(&path, Access::Read, Options::default()).unwrap();
        let read = || conn.query_row("SELECT count(*) FROM session", [], |row| row.get(0));
        let is_mapped = || {
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
            maps.lines().any(|line| line.ends_with(path.to_str().unwrap()))
        };
        assert_eq!((read(), is_mapped()), (Ok(0), true));
        give_back_mapped(&conn, 1 << 30).unwrap();
        assert!(is_mapped());
        give_back_mapped(&conn, 1).unwrap();
        assert!(!is_mapped());
        assert_eq!((read(), is_mapped()), (Ok(0), true));
    }

    #[test]
    fn statements_are_prepared_once_whatever_is_bound() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        SqliteStore::open(&path, Options::default()).unwrap();
        let conn = open(&path, Access::Read, Options::default()).unwrap();
        let mut statement = conn.prepare(&session::select("WHERE s.folded = ?")).unwrap();
        for id in ["a", "b", "c"] {
            assert!(!statement.exists([id]).unwrap());
            statement.clear_bindings();
        }
        // The first use of a statement reads the schema, which may prepare it once more.
        assert!(statement.get_status(StatementStatus::RePrepare) <= 1);
    }
}

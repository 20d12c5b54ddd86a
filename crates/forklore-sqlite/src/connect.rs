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
use crate::store::Options;
use crate::store_path;

/// Size of each connection's cache of prepared statements.
const STATEMENTS: usize = 96;
/// Page size of a new store, in bytes. Records of agents average 2 KB. With pages of 4 KB a third
/// of the space stays unused, and an import takes a third longer.
const PAGE_BYTES: u32 = 8 << 10;
/// The writer's page cache in KiB. The pages of one transaction fit into it; otherwise SQLite
/// writes some of them to the WAL twice.
const CACHE_KIB: u32 = 16 << 10;
/// How much of the database file readers map into memory, in bytes. They read mapped pages without
/// a system call and without a cache of their own. Only checkpoints truncate the file, and never
/// below the size that a reader's snapshot needs.
const MAPPED_BYTES: i64 = 1 << 30;
/// SQLite's name for the journal mode of a store.
const WAL: &str = "wal";
/// The size, in bytes, to which SQLite may leave the WAL when it is restarted. The WAL reaches
/// about this size before a checkpoint ends, so it is then overwritten in place.
const WAL_BYTES: i64 = 96 << 20;

/// How a connection may use the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Write,
    Read,
    /// The folder is not writable, so no other process writes either.
    Frozen,
}

/// Ensures that there is a store at `path`: creates one with the current version if the file does
/// not exist.
pub(crate) fn prepare(path: &Path, gate: &Gate, options: Options) -> Result<()> {
    if !store_path::check(path)? {
        disk::make_folder(disk::folder_of(path))?;
        let _passed = gate.pass(Pass::Exclusive, options.wait)?;
        // Another process may have created it meanwhile.
        if !store_path::check(path)? {
            make(path, options.vfs)?;
        }
    }
    Ok(())
}

/// Migrates an older store to the current version, and makes it use a WAL.
pub(crate) fn upgrade(path: &Path, gate: &Gate, options: Options) -> Result<()> {
    let mut conn = open(path, Access::Write, options)?;
    let _passed = gate.pass(Pass::Exclusive, options.wait)?;
    let failed = |fault: Fault| fault.about("bringing the store to a new version", path);
    begin_wal(&conn).map_err(failed)?;
    let version = migrate::version(&conn, path)?;
    if version < VERSION {
        migrate::migrate(&mut conn, version).map_err(failed)?;
    }
    crate::sync::sync(&conn, Synced::Wal).map_err(Fault::Sql).map_err(failed)
}

/// Switches the database to WAL mode.
fn begin_wal(conn: &Connection) -> Result<(), Fault> {
    // If SQLite cannot switch, it returns the mode that stays in effect; it reports a failure only
    // after that row.
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

/// Checks whether the database uses a WAL, as every store does whose creation did not fail.
pub(crate) fn has_wal(conn: &Connection, path: &Path) -> Result<bool> {
    let mode = conn.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0));
    let mode = mode.map_err(|error| Fault::Sql(error).about("opening the store", path))?;
    Ok(mode == WAL)
}

/// Creates a store under a temporary name and renames it into place when it is complete, so that no
/// process ever finds an incomplete one.
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

fn private_file(path: &Path) -> std::io::Result<File> {
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

/// Opens a connection to the store at `path`. Its commits become durable at the next sync of the
/// WAL.
pub(crate) fn open(path: &Path, access: Access, options: Options) -> Result<Connection> {
    let opened = match access {
        Access::Frozen => connect(Path::new(&frozen(path)?), flags(access), options.vfs),
        _ => connect(path, flags(access), options.vfs),
    };
    let set = |conn: Connection| {
        conn.busy_timeout(options.wait)?;
        conn.set_prepared_statement_cache_capacity(STATEMENTS);
        // Plans must not depend on bound values; otherwise SQLite prepares statements again at each
        // use.
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

/// Returns a URI with which SQLite reads the file alone, without the `-wal` and `-shm` files, which
/// it could not create. Fails if the WAL is not empty.
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
        // The first use reads the schema.
        assert!(statement.get_status(StatementStatus::RePrepare) <= 1);
    }
}

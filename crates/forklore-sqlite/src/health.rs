//! Checks the health of a store without creating, writing or repairing anything.

use std::path::Path;

use forklore_store::disk::{folder_of, with_suffix};
use forklore_store::health::{Far, Health, Status, size};
use forklore_store::port::Filter;
use forklore_store::{Error, Result, Store};
use rusqlite::Connection;

use crate::connect::{self, Access};
use crate::fault::Fault;
use crate::migrate::{self, VERSION};
use crate::steps::{Budget, Steps};
use crate::{Options, SqliteStore, path_safety};

/// Maximum size in bytes of a store for which the health check reads every page. Reading all pages
/// of a larger store would take too long.
const LOOKED_THROUGH: u64 = 256 << 20;
/// A WAL of more than this many bytes causes a warning: it was not written back for a long time.
const LONG_WAL: u64 = 128 << 20;
/// Maximum number of session headers that a health check reads.
const HEADERS: usize = 10_000;

impl SqliteStore {
    /// Reports on the health of the store in the file at `path`, which need not exist.
    #[must_use]
    pub fn health(path: &Path) -> Health {
        let mut health = Health::default();
        let path = match path_safety::resolve(path) {
            Ok(path) => path,
            Err(error) => {
                health.problem("store", &error);
                return health;
            }
        };
        let bytes = match std::fs::metadata(&path) {
            Ok(found) => found.len(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                if let Err(error) = connect::refuse_remains(&path) {
                    health.problem("store", &error);
                    return health;
                }
                health.ok("store", format!("none yet; the first command makes {}", path.display()));
                look_at_nearest(&mut health, folder_of(&path));
                return health;
            }
            Err(error) => {
                health.problem("store", &forklore_store::disk::os("looking at", &path)(error));
                return health;
            }
        };
        health.ok("store", format!("{}, {}", path.display(), size(bytes)));
        health.look_at_folder(folder_of(&path), Far::Refused);
        health.look_at_rights(&path);
        let wal = look_at_wal(&mut health, &path);
        if health.worst().is_none()
            && let Err(error) = look_inside(&mut health, &path, bytes, wal)
        {
            health.problem("content", &error);
        }
        health
    }
}

/// Returns the version of the SQLite library that is built in.
#[must_use]
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

/// Checks the folder in which a new store would be created. If `folder` does not exist, checks its
/// nearest existing ancestor instead: the missing folders would be created there.
fn look_at_nearest(health: &mut Health, folder: &Path) {
    if let Some(there) = folder.ancestors().find(|folder| folder.is_dir()) {
        health.look_at_folder(there, Far::Refused);
    }
}

/// Whether the store's WAL contains changes, and whether they can be read without creating a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wal {
    /// The WAL is empty or missing.
    Empty,
    /// The WAL has changes, and its index (the `-shm` file) exists.
    Indexed,
    /// The WAL has changes but no index (`-shm` file). Reading would create the index, so the
    /// health check does not read the content.
    Bare,
}

fn look_at_wal(health: &mut Health, path: &Path) -> Wal {
    let bytes = std::fs::metadata(with_suffix(path, "-wal")).map_or(0, |wal| wal.len());
    if bytes == 0 {
        health.ok("wal", "empty: every change is in the file");
        return Wal::Empty;
    }
    let message = format!(
        "{} of changes wait in the WAL: a program uses the store, or one was stopped",
        size(bytes)
    );
    if bytes > LONG_WAL {
        let hint = "end the programs that read the store for long; then any command writes it back";
        health.warning("wal", message, hint);
    } else {
        health.ok("wal", message + "; they are safe there");
    }
    if with_suffix(path, "-shm").exists() { Wal::Indexed } else { Wal::Bare }
}

/// Opens the store for reading, and reports its version and its sessions.
fn look_inside(health: &mut Health, path: &Path, bytes: u64, wal: Wal) -> Result<()> {
    path_safety::check(path)?;
    let lock = path_safety::register_open(path)?;
    let access = match wal {
        Wal::Empty => Access::Frozen,
        Wal::Indexed => Access::Read,
        Wal::Bare => {
            let message = "not looked at: that would write an index for the WAL".to_owned();
            health.add("content", Status::Warning, message, None, None);
            return Ok(());
        }
    };
    let mut conn = connect::open(path, access, Options::default())?;
    // A damaged page must not keep the health check busy for ever.
    let bound = Budget::of(&Steps::of(path)).bind(&mut conn);
    bound.map_err(|error| Fault::Sql(error).about("looking at", path))?;
    match migrate::version(&conn, path)? {
        VERSION => health.ok("format", format!("version {VERSION}")),
        older => {
            let message = format!("version {older}; the next command brings it to {VERSION}");
            health.ok("format", message);
            return Ok(());
        }
    }
    if bytes <= LOOKED_THROUGH {
        look_through(&conn, path)?;
    }
    look_at_headers(health, &SqliteStore::as_it_is(path, lock, conn, access)?)?;
    health.ok(
        "content",
        match bytes {
            ..=LOOKED_THROUGH => "the pages are in order; verify reads everything",
            _ => "too much for a look; verify reads everything",
        },
    );
    Ok(())
}

/// Reads the headers of living sessions. Reports the first damaged one or, if none is damaged,
/// their number.
fn look_at_headers(health: &mut Health, store: &SqliteStore) -> Result<()> {
    let found = store.sessions(&Filter::default(), None, HEADERS)?;
    if let Some(damaged) = found.damaged.first() {
        health.problem("sessions", damaged);
        return Ok(());
    }
    let more = if found.sound.len() == HEADERS { "at least " } else { "" };
    health.ok("sessions", format!("{more}{}", found.sound.len()));
    Ok(())
}

/// Runs SQLite's `quick_check`, which reads every page of the database.
fn look_through(conn: &Connection, path: &Path) -> Result<()> {
    let found = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    let found = found.map_err(|error| Fault::Sql(error).about("looking at", path))?;
    if found == "ok" {
        return Ok(());
    }
    let location = path.display().to_string();
    Err(Error::Corrupt { session: None, seq: None, location, message: found.replace('\n', "; ") })
}

//! Copies whole stores: a backup of a store, and a store from a backup.
//!
//! A backup is a store of the same kind, which can be opened where it is. Both directions therefore
//! do the same: they copy a store to a temporary name, read all of the copy, and only then give it
//! its name.

use std::path::Path;
use std::sync::Arc;

use forklore_core::ErrorKind;
use forklore_core::report::Verification;
use forklore_engine::{Engine, Error};
use forklore_files::FilesStore;
use forklore_sqlite::{Options, SqliteStore};
use forklore_store::Error as StoreError;
use forklore_store::disk::{Copied, Unfinished, folder_of, make_folder};

use crate::StoreUrl;
use crate::open::with_readers;

/// The first bytes of every SQLite file.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// How far a backup or its restore has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupStep {
    /// The store is being copied: `done` of `all` bytes are written under a temporary name.
    Copying {
        /// How many bytes are written so far.
        done: u64,
        /// How many bytes there are to write, as far as it can be told.
        all: u64,
    },
    /// The copy is complete and is being read to the end.
    Verifying,
    /// The copy is sound and gets its name. Reported before and after each change of a name.
    Naming,
}

/// What the verification of a backup, or of a restored store, counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifiedCopy {
    /// The number of sessions.
    pub sessions: u64,
    /// The number of events. An event that several sessions share counts once.
    pub events: u64,
    /// The total size of the files, in bytes.
    pub bytes: u64,
}

/// The reason why a backup was not made, or not restored. Nothing was written then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// There is no store, or no backup, to copy.
    #[error("there is no store at {0}")]
    Missing(String),
    /// The backup is of another kind of store than the one to restore.
    #[error("the backup is a store of the kind {found}, and the new store is to be {wanted}")]
    OtherKind {
        /// The kind of the backup: the scheme of its store URL.
        found: &'static str,
        /// The kind of the new store: the scheme of its store URL.
        wanted: &'static str,
    },
    /// Reading the copy found problems, and the copy was removed.
    #[error("the copy was removed, because it does not verify: {}", first(.0))]
    Damaged(Verification),
    /// A store cannot be read or written, is of a kind that is copied with other tools, or there is
    /// something where the copy was to be.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The copy cannot be verified.
    #[error(transparent)]
    Engine(#[from] Error),
}

impl BackupError {
    /// Returns the kind of this error, which scripts test for.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Missing(_) => ErrorKind::NotFound,
            Self::OtherKind { .. } => ErrorKind::InvalidArgs,
            Self::Damaged(_) => ErrorKind::Corrupt,
            Self::Store(error) => error.kind(),
            Self::Engine(error) => error.kind(),
        }
    }
}

fn first(report: &Verification) -> String {
    let more = report.problems.len().saturating_sub(1);
    let first = report.problems.first().map_or("", |problem| &*problem.message);
    if more == 0 { first.to_owned() } else { format!("{first} (and {more} more)") }
}

/// Writes a backup of the store `from` to the new file or folder `to`: a file for an SQLite store,
/// with its attachments in a folder next to it, and a folder for every other store on a disk. Other
/// processes may write to the store meanwhile. The backup contains everything that was acknowledged
/// before the call. Calls `observe` after each step. Returns what the verification of the backup
/// counted.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let (store, saved) = (dir.path().join("sessions.db"), dir.path().join("saved.db"));
/// let url = forklore::StoreUrl::Sqlite(store);
/// forklore::blocking::open_url(&url)?;
/// let backup = forklore::blocking::back_up(&url, &saved, &mut |_| ())?;
/// assert_eq!(backup.sessions, 0);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `Missing` if there is no store; `Store` with `Occupied` if there is something at `to`, and with
/// `Unsupported` for a store in a database or in memory; `Damaged` if the backup does not verify;
/// otherwise an error of reading or writing. Nothing is left at `to`.
pub fn back_up(
    from: &StoreUrl,
    to: &Path,
    observe: &mut dyn FnMut(BackupStep),
) -> Result<VerifiedCopy, BackupError> {
    let to = from.with_path(to).ok_or_else(|| uncopied(from))?;
    if !from.exists() {
        return Err(BackupError::Missing(from.location()));
    }
    copy(from, &to, false, observe)
}

/// Creates the store `to` from the backup at `from`, which is not changed. Calls `observe` after
/// each step. Returns what the verification of the new store counted.
///
/// # Errors
/// `Missing` if there is no backup at `from`; `OtherKind` if it is of another kind than `to`;
/// `Store` with `Occupied` if `to` exists, and with `Unsupported` for a store in a database or in
/// memory; `Damaged` if the new store does not verify; otherwise an error of reading or writing.
/// The store `to` then does not exist.
pub fn restore_backup(
    from: &Path,
    to: &StoreUrl,
    observe: &mut dyn FnMut(BackupStep),
) -> Result<VerifiedCopy, BackupError> {
    let path = to.path().ok_or_else(|| uncopied(to))?;
    let missing = || BackupError::Missing(from.display().to_string());
    let from = store_at(from).ok_or_else(missing)?;
    if from.scheme() != to.scheme() {
        return Err(BackupError::OtherKind { found: from.scheme(), wanted: to.scheme() });
    }
    make_folder(folder_of(path))?;
    copy(&from, to, true, observe)
}

/// Returns the URL of the store that is at `path`, judged by its first bytes or its files; `None`
/// if there is none. Opens nothing.
#[must_use]
pub fn store_at(path: &Path) -> Option<StoreUrl> {
    use std::io::Read;

    #[cfg(feature = "graph")]
    if path.join("graph.json").is_file() {
        return Some(StoreUrl::Graph(path.to_owned(), None));
    }
    if path.join("forklore.json").is_file() {
        return Some(StoreUrl::Files(path.to_owned()));
    }
    if !path.is_file() {
        return None;
    }
    let mut begins = Vec::new();
    std::fs::File::open(path).ok()?.take(SQLITE.len() as u64).read_to_end(&mut begins).ok()?;
    (begins == SQLITE).then(|| StoreUrl::Sqlite(path.to_owned()))
}

/// Returns the error for a store that is copied with other tools.
fn uncopied(url: &StoreUrl) -> BackupError {
    let message = match url {
        StoreUrl::Memory => "a store in memory ends with the program; there is nothing to copy",
        #[cfg(feature = "http")]
        StoreUrl::Http(_) => {
            "the store of a server is backed up and restored where the server runs, or copied to \
             another store with clone; see docs/remote.md"
        }
        _ => {
            "a store in a PostgreSQL database is backed up and restored with the database's own \
             tools, pg_basebackup or pg_dump; see docs/tier.md"
        }
    };
    StoreError::Unsupported(message.to_owned()).into()
}

/// Copies the store `from` to a temporary name, verifies the copy, and gives it the name of `to`.
/// `is_backup` says that `from` is a backup, to which nothing may be written.
fn copy(
    from: &StoreUrl,
    to: &StoreUrl,
    is_backup: bool,
    observe: &mut dyn FnMut(BackupStep),
) -> Result<VerifiedCopy, BackupError> {
    let (Some(path), Some(target)) = (from.path(), to.path()) else { return Err(uncopied(to)) };
    let companions = match to {
        StoreUrl::Sqlite(_) => SqliteStore::COMPANIONS,
        _ => &[],
    };
    let unfinished = Unfinished::begin(target, companions)?;
    let new = unfinished.path();
    let mut copied = |Copied { done, all }: Copied| observe(BackupStep::Copying { done, all });
    match from {
        StoreUrl::Sqlite(_) => read_only_sqlite(path)?.copy_to(&new, &mut copied)?,
        StoreUrl::Files(_) => files(path, is_backup)?.copy_to(&new, &mut copied)?,
        #[cfg(feature = "graph")]
        StoreUrl::Graph(..) => {
            let journal = files(&path.join(forklore_graph::JOURNAL), is_backup)?;
            forklore_graph::GraphStore::copy_to(path, &journal, &new, &mut copied)?;
        }
        other => return Err(uncopied(other)),
    }
    observe(BackupStep::Verifying);
    let engine = reader(from, &new)?;
    let report = engine.verify(None)?;
    if !report.problems.is_empty() {
        return Err(BackupError::Damaged(report));
    }
    let Verification { sessions, events, .. } = report;
    let mut bytes = engine.store().store_bytes()?;
    if let Some(attachments) = engine.store().attachments() {
        bytes += attachments.list()?.iter().map(|one| one.bytes).sum::<u64>();
    }
    drop(engine);
    unfinished.give_name(&mut || observe(BackupStep::Naming))?;
    Ok(VerifiedCopy { sessions, events, bytes })
}

/// Opens the copy of the store `from` that is at `path`, for reading only.
fn reader(from: &StoreUrl, path: &Path) -> Result<Engine, BackupError> {
    let engine = match from {
        StoreUrl::Sqlite(_) => Engine::new(Arc::new(read_only_sqlite(path)?)),
        #[cfg(feature = "graph")]
        StoreUrl::Graph(..) => {
            Engine::new(Arc::new(read_only_files(&path.join(forklore_graph::JOURNAL))?))
        }
        _ => Engine::new(Arc::new(read_only_files(path)?)),
    };
    Ok(with_readers(engine))
}

fn read_only_sqlite(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, Options { read_only: true, ..Options::default() })
}

fn read_only_files(path: &Path) -> Result<FilesStore, StoreError> {
    let options = forklore_files::Options { read_only: true, ..Default::default() };
    FilesStore::open(path, options)
}

/// Opens a files store to copy it: for reading only if it is a backup, or if this process may not
/// write to it.
fn files(path: &Path, is_backup: bool) -> Result<FilesStore, StoreError> {
    if is_backup {
        return read_only_files(path);
    }
    match FilesStore::open(path, Default::default()) {
        Err(StoreError::Denied(_)) => read_only_files(path),
        opened => opened,
    }
}

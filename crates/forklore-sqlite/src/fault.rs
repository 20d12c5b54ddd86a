//! The faults that can end a transaction, and their conversion into errors of the store.

use std::path::Path;

use forklore_core::SessionId;
use forklore_store::Error;
use forklore_store::disk::limits;
use rusqlite::{ErrorCode, ffi};

/// Number of free file descriptors that one more SQLite connection needs.
const FILES: usize = 4;

pub(crate) type Result<T, E = Fault> = std::result::Result<T, E>;

/// The reason for which a transaction was rolled back or a read failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// SQLite failed. The error does not say during which operation; the caller of the transaction
    /// adds that.
    Sql(rusqlite::Error),
    /// The store refused the operation, for the reason in the error.
    Refused(Error),
    /// Stored bytes differ from what forklore wrote.
    Damaged(Damage),
}

/// Describes damage of stored bytes: where it is, and what is wrong.
#[derive(Debug)]
pub(crate) struct Damage {
    pub(crate) session: Option<SessionId>,
    pub(crate) seq: Option<u64>,
    pub(crate) location: String,
    pub(crate) message: String,
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl Fault {
    /// Returns a fault for damage at `location`, without session and seq. [`Fault::of`] adds them.
    pub(crate) fn damaged(location: impl Into<String>, message: &(impl ToString + ?Sized)) -> Self {
        let (position, message) = (location.into(), message.to_string());
        Self::Damaged(Damage { session: None, seq: None, location: position, message })
    }

    /// Adds `session` and `seq` to a fault that reports damage, unless it already names them.
    pub(crate) fn of(mut self, session: &SessionId, seq: Option<u64>) -> Self {
        if let Self::Damaged(damage) = &mut self {
            damage.session.get_or_insert_with(|| session.clone());
            damage.seq = damage.seq.or(seq);
        }
        self
    }

    /// Checks whether the fault concerns only the row that was being read. If so, other rows may
    /// still be readable.
    pub(crate) fn is_of_one_row(&self) -> bool {
        match self {
            Self::Damaged(_) | Self::Refused(Error::MissingAncestor { .. }) => true,
            Self::Refused(_) => false,
            Self::Sql(error) => !matches!(error, rusqlite::Error::SqliteFailure(..)),
        }
    }

    /// Checks whether the fault suggests that the file is damaged. SQLite reported damage, or it
    /// stopped the query because it ran longer than any query of a sound file does. Another query
    /// may still succeed, for example one that uses another index.
    pub(crate) fn is_of_the_file(&self) -> bool {
        use ErrorCode::{DatabaseCorrupt, NotADatabase, OperationInterrupted};
        matches!(self, Self::Sql(rusqlite::Error::SqliteFailure(error, _))
            if matches!(error.code, DatabaseCorrupt | NotADatabase | OperationInterrupted))
    }

    /// Checks whether the connection must be closed because of this fault. After a failed write or
    /// sync it is unknown which data reached the disk, so the file must be opened again before the
    /// next operation.
    pub(crate) fn spoils(&self) -> bool {
        use ErrorCode::{
            CannotOpen, DatabaseCorrupt, DiskFull, NotADatabase, ReadOnly, SystemIoFailure,
        };
        matches!(self, Self::Sql(rusqlite::Error::SqliteFailure(error, _)) if matches!(error.code,
            DiskFull | SystemIoFailure | DatabaseCorrupt | NotADatabase | CannotOpen | ReadOnly))
    }

    /// Checks whether the fault is a failed sync. After a failed sync, it is unknown which written
    /// data reached the disk, and a later successful sync does not prove that this data did.
    pub(crate) fn is_failed_sync(&self) -> bool {
        matches!(self, Self::Sql(rusqlite::Error::SqliteFailure(error, _)) if matches!(
            error.extended_code, ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC))
    }

    /// Converts the fault into an error of the store's interface. `doing` names the failed
    /// operation on the file at `path`.
    pub(crate) fn about(self, doing: &str, path: &Path) -> Error {
        let at = path.display();
        match self {
            Self::Refused(error) => error,
            Self::Damaged(Damage { session, seq, location: position, message }) => {
                Error::Corrupt { session, seq, location: format!("{position} in {at}"), message }
            }
            Self::Sql(source) => sql(source, doing, path),
        }
    }
}

fn sql(source: rusqlite::Error, doing: &str, path: &Path) -> Error {
    let at = path.display();
    let corrupt = |message: String| Error::Corrupt {
        session: None,
        seq: None,
        location: at.to_string(),
        message,
    };
    let rusqlite::Error::SqliteFailure(failure, _) = &source else {
        return match source {
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::QueryReturnedNoRows => corrupt(source.to_string()),
            rusqlite::Error::SqlInputError { msg, .. } => corrupt(msg),
            other => Error::io(format!("{doing} {at}"), other),
        };
    };
    match failure.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            Error::Locked(format!("another program kept {at} locked"))
        }
        // Tests run every SQL statement of this crate. If SQLite cannot prepare one (code
        // `Unknown`), the tables of the file are not those of a store.
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown => {
            corrupt(source.to_string())
        }
        // Only the bound of `Steps` interrupts a statement.
        ErrorCode::OperationInterrupted => {
            let message = "it takes more steps than a file of its size can need, as if its pages \
                led in a circle";
            corrupt(message.to_owned())
        }
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => {
            Error::Denied(format!("{doing} {at}: it may only be read"))
        }
        ErrorCode::DiskFull => {
            let full = std::io::Error::new(std::io::ErrorKind::StorageFull, source);
            Error::io(format!("{doing} {at}"), full)
        }
        // SQLite does not say why the write failed. The reason may be the operating system's limit
        // for the size of a file.
        ErrorCode::SystemIoFailure if failure.extended_code == ffi::SQLITE_IOERR_WRITE => {
            let Some(limit) = limits::file_size() else {
                return Error::io(format!("{doing} {at}"), source);
            };
            let long = std::io::Error::new(std::io::ErrorKind::FileTooLarge, source);
            Error::io(format!("{doing} {at}, where no file may exceed {limit} bytes"), long)
        }
        ErrorCode::CannotOpen => {
            let why = limits::open_files(FILES).map_or_else(|| source.into(), Into::into);
            Error::Io { doing: format!("{doing} {at}"), source: why }
        }
        _ => Error::io(format!("{doing} {at}"), source),
    }
}

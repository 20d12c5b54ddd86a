//! Errors of the benchmark run.

use std::io;
use std::path::Path;
use std::process::ExitStatus;

/// The result of a function that may fail, with this crate's error as the default.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// An error because of which the benchmark run ends. Contains the file or the action that failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Verb(#[from] forklore::Error),
    #[error(transparent)]
    Store(#[from] forklore::store::Error),
    #[error(transparent)]
    Model(#[from] forklore::core::id::IdError),
    #[error(transparent)]
    Snapshot(#[from] forklore_snapshot::Error),
    #[error(transparent)]
    Server(#[from] forklore_pgserver::NoServer),
    #[error(transparent)]
    Database(#[from] tokio_postgres::Error),
    #[error("{doing}: {source}")]
    Io { doing: String, source: io::Error },
    #[error("`{command}` failed: {status}\n{output}")]
    Program { command: String, status: ExitStatus, output: String },
    #[error("{0}")]
    Wrong(String),
}

/// Extends the results of I/O operations: adds to an error the action that failed.
pub(crate) trait Doing<T> {
    /// Converts an I/O error into this crate's error. `doing` describes the failed action, such as
    /// `cannot open`, and `path` is the file concerned.
    fn doing(self, doing: &str, path: &Path) -> Result<T>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, doing: &str, path: &Path) -> Result<T> {
        self.map_err(|source| Error::Io { doing: format!("{doing} {}", path.display()), source })
    }
}

//! Errors of the benchmark run.

use std::io;
use std::path::Path;
use std::process::ExitStatus;

/// The result of a step of the run.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, and with what.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Verb(#[from] forklore::Error),
    #[error(transparent)]
    Store(#[from] forklore::store::Error),
    #[error(transparent)]
    Model(#[from] forklore::core::id::IdError),
    #[error("{doing}: {source}")]
    Io { doing: String, source: io::Error },
    #[error("`{command}` failed: {status}\n{output}")]
    Program { command: String, status: ExitStatus, output: String },
    #[error("{0}")]
    Wrong(String),
}

/// Adds to an I/O error what was being done.
pub(crate) trait Doing<T> {
    /// `doing` describes the failed action and `path` is its object.
    fn doing(self, doing: &str, path: &Path) -> Result<T>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, doing: &str, path: &Path) -> Result<T> {
        self.map_err(|source| Error::Io { doing: format!("{doing} {}", path.display()), source })
    }
}

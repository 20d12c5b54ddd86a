//! Errors that prevent a test of an agent.

use std::io;
use std::path::PathBuf;

/// The result of a function that may fail, with this crate's error as the default.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// An error because of which an agent could not be tested.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("none of the agents is called {0}")]
    Nobody(String),
    #[error("{path}: {source}")]
    File { path: PathBuf, source: io::Error },
    #[error("cannot start {program}: {source}")]
    NotStarted { program: PathBuf, source: io::Error },
    #[error("{0}")]
    Forklore(#[from] forklore::Error),
    #[error("{0}")]
    Open(#[from] forklore::OpenError),
    #[error("the model of our own: {0}")]
    Mock(io::Error),
    #[error("a thread was lost")]
    Lost,
}

impl Error {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}

impl From<Error> for String {
    fn from(error: Error) -> Self {
        error.to_string()
    }
}

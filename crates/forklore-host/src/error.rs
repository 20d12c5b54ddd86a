//! The errors of the host.

use std::io;

use forklore_core::ErrorKind;
use serde_json::{Value, json};

use crate::config::ConfigError;

/// The result of a host operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why an operation failed. Events stored before the failure stay stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The agent kernel, which runs turns, refused the operation or failed.
    #[error(transparent)]
    Agent(#[from] forklore_agent::Error),
    /// The engine, which reads and writes sessions, refused the operation or failed.
    #[error(transparent)]
    Engine(#[from] forklore_engine::Error),
    /// The files of a session could not be recorded or taken back.
    #[error(transparent)]
    Files(#[from] forklore_workspace::Error),
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A model's configuration is invalid.
    #[error("{0}")]
    Model(String),
    /// The request is invalid.
    #[error("{0}")]
    Invalid(String),
    /// A file or a program outside the store cannot be used.
    #[error("{doing}: {source}")]
    Io {
        /// The operation that failed.
        doing: String,
        /// The I/O error.
        source: io::Error,
    },
    /// The caller interrupted the operation.
    #[error("interrupted; what was said is kept")]
    Interrupted,
}

impl Error {
    /// Builds an error for an invalid request.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }

    /// Returns the error kind, which determines the exit code (docs/semantics.md, Errors).
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Agent(error) => error.kind(),
            Self::Engine(error) => error.kind(),
            Self::Files(error) => error.kind(),
            Self::Config(error) => error.kind,
            Self::Model(_) | Self::Invalid(_) => ErrorKind::InvalidArgs,
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => ErrorKind::NotFound,
                io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
                _ => ErrorKind::Internal,
            },
            Self::Interrupted => ErrorKind::Interrupted,
        }
    }

    /// Returns the details of the error as a JSON object, for scripts.
    #[must_use]
    pub fn details(&self) -> Value {
        match self {
            Self::Agent(error) => error.details(),
            Self::Engine(error) => error.details(),
            Self::Config(error) => json!({"path": error.path, "line": error.line}),
            _ => json!({}),
        }
    }

    /// Checks whether the operation failed because another program runs a turn in the session or
    /// has written to the session. The caller can then continue in a fork.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        matches!(self.kind(), ErrorKind::Busy | ErrorKind::Conflict)
            && matches!(
                self,
                Self::Engine(_)
                    | Self::Agent(
                        forklore_agent::Error::Engine(_) | forklore_agent::Error::Leased { .. }
                    )
            )
    }
}

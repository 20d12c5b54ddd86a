//! Why a verb of the host failed.

use std::io;

use forklore_core::ErrorKind;
use serde_json::{Value, json};

use crate::config::ConfigError;

/// The result of a verb.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a verb failed. Whatever was stored before stays stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The kernel refused or failed.
    #[error(transparent)]
    Agent(#[from] forklore_agent::Error),
    /// A verb of the engine refused or failed.
    #[error(transparent)]
    Engine(#[from] forklore_engine::Error),
    /// The configuration does not say what it should.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A model cannot be what its configuration says.
    #[error("{0}")]
    Model(String),
    /// The request makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// A file or a program outside the store cannot be used.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        /// Why it failed.
        source: io::Error,
    },
    /// The caller interrupted it.
    #[error("interrupted; what was said is kept")]
    Interrupted,
}

impl Error {
    /// An error about a request that makes no sense.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }

    /// The kind that scripts see (semantics, section 16).
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Agent(error) => error.kind(),
            Self::Engine(error) => error.kind(),
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

    /// The facts of the error, for scripts.
    #[must_use]
    pub fn details(&self) -> Value {
        match self {
            Self::Agent(error) => error.details(),
            Self::Engine(error) => error.details(),
            Self::Config(error) => json!({"path": error.path, "line": error.line}),
            _ => json!({}),
        }
    }

    /// Whether another program runs a turn in the session or wrote to it. A fork can continue.
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

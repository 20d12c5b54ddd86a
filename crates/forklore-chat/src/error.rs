//! Why a conversation at a terminal did not do what it was asked to do.

use forklore_core::ErrorKind;
use forklore_host::ConfigError;
use serde_json::{Value, json};

use crate::Stop;

/// The result of a command.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a command failed. Whatever was stored before stays stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A verb of the host refused or failed.
    #[error(transparent)]
    Host(#[from] forklore_host::Error),
    /// A signal stopped the program before its work ended.
    #[error("stopped; what was stored is kept")]
    Stopped(Stop),
}

impl From<forklore_engine::Error> for Error {
    fn from(error: forklore_engine::Error) -> Self {
        Self::Host(error.into())
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::Host(error.into())
    }
}

impl Error {
    /// The kind that scripts see (semantics, section 16).
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Host(error) => error.kind(),
            Self::Stopped(_) => ErrorKind::Interrupted,
        }
    }

    /// The facts of the error, for scripts.
    #[must_use]
    pub fn details(&self) -> Value {
        match self {
            Self::Host(error) => error.details(),
            Self::Stopped(_) => json!({}),
        }
    }

    /// Whether another program runs a turn in the session or wrote to it. A fork can continue.
    pub(crate) fn is_in_use(&self) -> bool {
        matches!(self, Self::Host(error) if error.is_in_use())
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::Host(forklore_host::Error::invalid(message))
    }

    pub(crate) fn interrupted() -> Self {
        Self::Host(forklore_host::Error::Interrupted)
    }
}

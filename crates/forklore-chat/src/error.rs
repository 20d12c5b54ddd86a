//! The errors of a conversation at a terminal.

use forklore_core::ErrorKind;
use forklore_host::ConfigError;
use serde_json::{Value, json};

use crate::Stop;

/// The result of a command or a method of a conversation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a command failed. Events stored before the failure stay stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operation of the host was refused or failed.
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
    /// Returns the error kind that scripts match on (docs/semantics.md, Errors).
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Host(error) => error.kind(),
            Self::Stopped(_) => ErrorKind::Interrupted,
        }
    }

    /// Returns the details of the error as a JSON object, for scripts.
    #[must_use]
    pub fn details(&self) -> Value {
        match self {
            Self::Host(error) => error.details(),
            Self::Stopped(_) => json!({}),
        }
    }

    /// Checks whether the operation failed because another program runs a turn in the session or
    /// has written to the session. The conversation can then continue in a fork.
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

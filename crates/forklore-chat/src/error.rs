//! Why a conversation did not go on as it was asked to.

use forklore_core::ErrorKind;
use serde_json::{Value, json};

use crate::Stop;
use crate::config::ConfigError;

/// The result of something that was asked for.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was not done. What was said before is stored all the same.
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
    /// The words behind a command, or of a program's option, make no sense.
    #[error("{0}")]
    Words(String),
    /// A file or a program beside the sessions cannot be used.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// It was interrupted.
    #[error("interrupted; what was said is kept")]
    Interrupted,
    /// The program is to stop, and waited for nothing or had nothing yet to wait for.
    #[error("stopped; what was stored is kept")]
    Stopped(Stop),
}

impl Error {
    /// The kind that scripts see (SPEC 16).
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Agent(error) => error.kind(),
            Self::Engine(error) => error.kind(),
            Self::Config(error) => error.kind,
            Self::Model(_) | Self::Words(_) => ErrorKind::InvalidArgs,
            Self::Io { .. } => ErrorKind::Internal,
            Self::Interrupted | Self::Stopped(_) => ErrorKind::Interrupted,
        }
    }

    /// The facts that a script may want besides the kind.
    #[must_use]
    pub fn details(&self) -> Value {
        match self {
            Self::Agent(error) => error.details(),
            Self::Engine(error) => error.details(),
            Self::Config(error) => json!({"path": error.path, "line": error.line}),
            _ => json!({}),
        }
    }

    /// What the caller may do next, as commands or sentences.
    #[must_use]
    pub fn next_actions(&self) -> Vec<String> {
        match self {
            Self::Agent(error) => error.next_actions(),
            Self::Engine(error) => error.next_actions(),
            _ => Vec::new(),
        }
    }

    /// Whether another program holds the session or wrote to it: a fork goes on.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        matches!(self.kind(), ErrorKind::Busy | ErrorKind::Conflict)
            && matches!(
                self,
                Self::Engine(_)
                    | Self::Agent(
                        forklore_agent::Error::Engine(_) | forklore_agent::Error::Held { .. }
                    )
            )
    }

    pub(crate) fn words(message: impl Into<String>) -> Self {
        Self::Words(message.into())
    }
}

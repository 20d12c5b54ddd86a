//! Why the program did not do what it was asked, as scripts and people are told (SPEC 16).

use std::error::Error as _;
use std::io;

use forklore::api::Facts;
use forklore::core::ErrorKind;
use forklore::core::id::IdError;
use forklore::{Error, OpenError};
use forklore_chat::Stop;
use serde_json::{Value, json};

use crate::hints::next;

/// The result of a command.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why a command was not carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A verb refused or failed.
    #[error(transparent)]
    Engine(#[from] Error),
    /// The store could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A conversation did not go on.
    #[error(transparent)]
    Chat(#[from] forklore_chat::Error),
    /// The command line makes no sense, or asks for what this program cannot do.
    #[error("{message}")]
    Refused {
        /// The kind that scripts see.
        kind: ErrorKind,
        /// What is wrong.
        message: String,
        /// The facts that a script may want.
        details: Value,
        /// What the caller may do next.
        next: Vec<String>,
    },
    /// A file could not be read or written.
    #[error("{doing}: {source}")]
    File {
        /// What was being done.
        doing: String,
        /// Why it failed.
        source: io::Error,
    },
    /// The answer could not be written.
    #[error("writing the answer: {0}")]
    Answer(#[from] io::Error),
    /// The answer is out already and says what is wrong; only the exit code is left.
    #[error("the answer names {0} problems")]
    Answered(ErrorKind),
    /// The program was told to stop, and did; only the exit code is left.
    #[error("stopped")]
    Stopped(Stop),
}

impl From<forklore_host::Error> for Failure {
    fn from(error: forklore_host::Error) -> Self {
        Self::Chat(error.into())
    }
}

impl Failure {
    /// A command line that makes no sense.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::refused(ErrorKind::InvalidArgs, message)
    }

    /// A refusal of this kind.
    pub(crate) fn refused(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::Refused { kind, message: message.into(), details: json!({}), next: Vec::new() }
    }

    /// A name outside the grammar; the text itself is not repeated (SPEC 2).
    pub(crate) fn name(what: &'static str) -> impl Fn(IdError) -> Self {
        move |source| Self::Engine(Error::Name { what, source })
    }

    /// The same refusal with a way on.
    pub(crate) fn or_try(mut self, command: impl Into<String>) -> Self {
        if let Self::Refused { next, .. } = &mut self {
            next.push(command.into());
        }
        self
    }

    /// The kind that scripts see.
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::Engine(error) => error.kind(),
            Self::Chat(error) => error.kind(),
            Self::Open(OpenError::Store(error)) => error.kind(),
            Self::Open(_) => ErrorKind::InvalidArgs,
            Self::Refused { kind, .. } | Self::Answered(kind) => *kind,
            Self::File { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => ErrorKind::NotFound,
                io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
                io::ErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
                // A name that is too long, or that this system cannot spell.
                io::ErrorKind::InvalidFilename => ErrorKind::InvalidArgs,
                _ => ErrorKind::Internal,
            },
            Self::Answer(_) => ErrorKind::Internal,
            Self::Stopped(_) => ErrorKind::Interrupted,
        }
    }

    /// With what the program ends. Who stopped it is told as shells tell it.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Stopped(stop) | Self::Chat(forklore_chat::Error::Stopped(stop)) => {
                stop.exit_code()
            }
            _ => self.kind().exit_code(),
        }
    }

    /// The facts that a script may want besides the kind.
    pub(crate) fn details(&self) -> Value {
        match self {
            Self::Engine(error) => error.details(),
            Self::Chat(error) => error.details(),
            Self::Open(OpenError::Store(error)) => error.details(),
            Self::Refused { details, .. } => details.clone(),
            _ => json!({}),
        }
    }

    /// The same facts as the contract has them.
    pub(crate) fn facts(&self) -> Facts {
        serde_json::from_value(self.details()).unwrap_or_else(|_| Facts::none())
    }

    /// What the user may do next, as commands or sentences.
    pub(crate) fn next_actions(&self) -> Vec<String> {
        match self {
            Self::Engine(error) => next::engine(error),
            Self::Chat(error) => next::chat(error),
            Self::Open(OpenError::Store(error)) => next::store(error),
            Self::Open(_) => vec!["forklore --store sqlite:PATH list --all".into()],
            Self::Refused { next, .. } => next.clone(),
            _ => Vec::new(),
        }
    }

    /// Lines at the end of the message that are to be written into a file.
    pub(crate) fn lines_to_write(&self) -> Option<&'static str> {
        match self {
            Self::Chat(forklore_chat::Error::Host(forklore_host::Error::Config(error))) => {
                error.example()
            }
            _ => None,
        }
    }

    /// What lies behind the message, outermost first.
    pub(crate) fn causes(&self) -> Vec<String> {
        let mut causes = Vec::new();
        let mut next = self.source();
        while let Some(cause) = next {
            causes.push(cause.to_string());
            next = cause.source();
        }
        causes
    }

    /// Whether the program was told to stop.
    pub(crate) fn is_stop(&self) -> bool {
        matches!(self, Self::Stopped(_) | Self::Chat(forklore_chat::Error::Stopped(_)))
    }

    /// Whether the reader of the answer went away.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        match self {
            Self::Answer(source) | Self::Engine(Error::Io { source, .. }) => {
                source.kind() == io::ErrorKind::BrokenPipe
            }
            _ => false,
        }
    }
}

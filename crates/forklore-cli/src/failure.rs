//! The errors of the program, in the form that scripts and users receive (docs/semantics.md,
//! Errors).

use std::error::Error as _;
use std::io;

use forklore::api::Facts;
use forklore::core::ErrorKind;
use forklore::core::id::IdError;
use forklore::{BackupError, Error, OpenError};
use forklore_chat::Stop;
use serde_json::{Value, json};

use crate::hints::next;

/// The result of a command. An error is reported to the user and determines the exit code.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// The reason why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// An operation of the engine was refused or failed.
    #[error(transparent)]
    Engine(#[from] Error),
    /// The store could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A backup was not made, or not restored.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// The files of a session were not recorded or not restored.
    #[error(transparent)]
    Files(forklore_workspace::Error),
    /// The server could not start.
    #[cfg(feature = "server")]
    #[error(transparent)]
    Serve(#[from] forklore_server::StartError),
    /// The tokens of the server could not be read or changed.
    #[cfg(feature = "server")]
    #[error(transparent)]
    Token(#[from] forklore_server::TokenError),
    /// A conversation failed.
    #[error(transparent)]
    Chat(#[from] forklore_chat::Error),
    /// The program itself, not a library, refused the request. For example, the command line is
    /// invalid.
    #[error("{message}")]
    Refused {
        /// The error kind that scripts match on.
        kind: ErrorKind,
        /// The message for the user.
        message: String,
        /// Details for scripts, as a JSON object.
        details: Value,
        /// Suggestions for what the user can do next, as commands or sentences.
        next: Vec<String>,
    },
    /// A file could not be read or written.
    #[error("{doing}: {source}")]
    File {
        /// The operation that failed, such as "writing PATH".
        doing: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The command's answer could not be written.
    #[error("writing the answer: {0}")]
    Answer(#[from] io::Error),
    /// The command failed, but its answer is already written and contains the problems. Only the
    /// exit code of this error kind is left to report.
    #[error("the answer names {0} problems")]
    Answered(ErrorKind),
    /// A signal stopped the program. Only the exit code is left to report.
    #[error("stopped")]
    Stopped(Stop),
}

impl From<forklore_workspace::Error> for Failure {
    fn from(error: forklore_workspace::Error) -> Self {
        match error {
            forklore_workspace::Error::Engine(error) => Self::Engine(error),
            other => Self::Files(other),
        }
    }
}

impl From<forklore_host::Error> for Failure {
    fn from(error: forklore_host::Error) -> Self {
        Self::Chat(error.into())
    }
}

impl Failure {
    /// Returns the error for an invalid command line.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::refused(ErrorKind::InvalidArgs, message)
    }

    /// Returns the error for a refused request, with this kind and message.
    pub(crate) fn refused(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::Refused { kind, message: message.into(), details: json!({}), next: Vec::new() }
    }

    /// Returns a function that creates the error for a name with invalid syntax. `what` is the kind
    /// of name, such as `label`. The message does not repeat the name, which may be hostile
    /// (docs/semantics.md, Envelope).
    pub(crate) fn name(what: &'static str) -> impl Fn(IdError) -> Self {
        move |source| Self::Engine(Error::Name { what, source })
    }

    /// Adds a suggested command to [`Failure::Refused`]. Does nothing for other failures.
    pub(crate) fn or_try(mut self, command: impl Into<String>) -> Self {
        if let Self::Refused { next, .. } = &mut self {
            next.push(command.into());
        }
        self
    }

    /// Returns the error kind that scripts match on.
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::Engine(error) => error.kind(),
            Self::Backup(error) => error.kind(),
            Self::Files(error) => error.kind(),
            #[cfg(feature = "server")]
            Self::Serve(error) => error.kind(),
            #[cfg(feature = "server")]
            Self::Token(error) => error.kind(),
            Self::Chat(error) => error.kind(),
            Self::Open(OpenError::Store(error)) => error.kind(),
            Self::Open(_) => ErrorKind::InvalidArgs,
            Self::Refused { kind, .. } | Self::Answered(kind) => *kind,
            Self::File { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => ErrorKind::NotFound,
                io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
                io::ErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
                // The file name is too long, or this system cannot encode it.
                io::ErrorKind::InvalidFilename => ErrorKind::InvalidArgs,
                _ => ErrorKind::Internal,
            },
            Self::Answer(_) => ErrorKind::Internal,
            Self::Stopped(_) => ErrorKind::Interrupted,
        }
    }

    /// Returns the exit code of the program. After a signal, this is 128 plus the signal's number,
    /// as shells report it.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Stopped(stop) | Self::Chat(forklore_chat::Error::Stopped(stop)) => {
                stop.exit_code()
            }
            _ => self.kind().exit_code(),
        }
    }

    /// Returns the details of the error, in addition to its kind, as a JSON object for scripts.
    pub(crate) fn details(&self) -> Value {
        match self {
            Self::Engine(error) => error.details(),
            Self::Backup(BackupError::Store(error)) => error.details(),
            Self::Backup(BackupError::Engine(error)) => error.details(),
            Self::Chat(error) => error.details(),
            Self::Open(OpenError::Store(error)) => error.details(),
            Self::Refused { details, .. } => details.clone(),
            _ => json!({}),
        }
    }

    /// Returns the [`details`](Self::details) in the form of the output schema.
    pub(crate) fn facts(&self) -> Facts {
        serde_json::from_value(self.details()).unwrap_or_else(|_| Facts::none())
    }

    /// Returns suggestions for what the user can do next, as commands or sentences.
    pub(crate) fn next_actions(&self) -> Vec<String> {
        match self {
            Self::Engine(error) => next::engine(error),
            Self::Backup(error) => next::backup(error),
            Self::Files(error) => next::files(error),
            #[cfg(feature = "server")]
            Self::Serve(error) => next::serve(error),
            #[cfg(feature = "server")]
            Self::Token(_) => vec!["forklore token list".into()],
            Self::Chat(error) => next::chat(error),
            Self::Open(OpenError::Store(error)) => next::store(error),
            Self::Open(_) => vec!["forklore --store sqlite:PATH list --all".into()],
            Self::Refused { next, .. } => next.clone(),
            _ => Vec::new(),
        }
    }

    /// Returns the example of a configuration file that ends the error message. Returns `None` if
    /// the message has no example.
    pub(crate) fn lines_to_write(&self) -> Option<&'static str> {
        match self {
            Self::Chat(forklore_chat::Error::Host(forklore_host::Error::Config(error))) => {
                error.example()
            }
            _ => None,
        }
    }

    /// Returns the messages of the error's causes, outermost first.
    pub(crate) fn causes(&self) -> Vec<String> {
        let mut causes = Vec::new();
        let mut next = self.source();
        while let Some(cause) = next {
            causes.push(cause.to_string());
            next = cause.source();
        }
        causes
    }

    /// Checks whether a signal stopped the program.
    pub(crate) fn is_stop(&self) -> bool {
        matches!(self, Self::Stopped(_) | Self::Chat(forklore_chat::Error::Stopped(_)))
    }

    /// Checks whether a write failed because the reader of the output closed the pipe.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        match self {
            Self::Answer(source) | Self::Engine(Error::Io { source, .. }) => {
                source.kind() == io::ErrorKind::BrokenPipe
            }
            _ => false,
        }
    }
}

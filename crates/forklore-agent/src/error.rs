//! The errors of the sessions that the kernel runs.

use std::time::Duration;

use forklore_core::units::count;
use forklore_core::{Data, ErrorKind, SessionId};
use forklore_engine::Error as EngineError;
use forklore_engine::lease_owner;
use serde_json::{Value, json};

use crate::model::{ModelError, ModelErrorKind};
use crate::tool::to_value;

/// The result of an operation on a session. The error is [`Error`] by default.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation on a session failed. The session's log stays consistent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operation of the engine was refused or failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The model cannot be called until the user provides something, such as an API key. Nothing
    /// was stored.
    #[error("the model cannot be asked: {0}")]
    NotReady(ModelError),
    /// Another runtime has leased the session.
    #[error(
        "session {session} is running, held by {}; if that is gone, it is free in {} s at the latest",
        source.holder().map_or("another runtime", lease_owner::readable),
        seconds(*free_in)
    )]
    Leased {
        /// The leased session.
        session: SessionId,
        /// The time until the lease expires if the other runtime does not renew it.
        free_in: Duration,
        /// The engine's error. It contains the full name of the lease's owner.
        source: EngineError,
    },
    /// The model did not answer. Retries failed too, or were not possible.
    #[error("the model did not answer after {}: {source}", count(u64::from(.attempts.to_owned()), "attempt"))]
    Model {
        /// Number of attempts that were made.
        attempts: u32,
        /// Why the last attempt failed.
        source: ModelError,
    },
    /// A hook denied the operation, or a person denied it after a hook asked the person. Nothing of
    /// the operation was written.
    #[error("{what} was denied by {by}: {reason}")]
    Denied {
        /// The denied operation in words, such as `the prompt`, `the fork` or `the session`.
        what: &'static str,
        /// The name of the hook.
        by: String,
        /// The reason that the hook or the person gave.
        reason: String,
    },
    /// This runtime is already running a turn or another operation on the session.
    #[error("session {0} is in the middle of a turn; interrupt it, or fork the session")]
    Running(SessionId),
    /// `cleanup` ended the session in this process, or a tool call wants to delegate although its
    /// turn no longer waits for it. Open the session again to continue.
    #[error("session {0} was ended here; open it again to go on")]
    Ended(SessionId),
    /// The session to resume as a sub-agent is not a sub-agent of the session that delegates.
    #[error("session {0} is no sub-agent of this one; name one that it made")]
    NotADelegate(SessionId),
    /// A tool requested a sub-agent, but no turn made the tool's call.
    #[error("no turn of a session makes this call, so no sub-agent can work for it")]
    NoCaller,
    /// The fork request is a dry run. A dry run creates no child session with which the caller
    /// could continue.
    #[error("the fork of session {0} is a plan, which has no child to go on with")]
    IsAPlan(SessionId),
    /// The operation was interrupted. Nothing of the operation was recorded.
    #[error("the work on session {session} was interrupted; nothing of it was recorded")]
    Interrupted {
        /// The session whose work was interrupted.
        session: SessionId,
        /// The usage of the model calls until the interruption, as payloads of `provider_usage`
        /// events. No log contains this usage, because nothing of the operation was recorded.
        usage: Vec<Data>,
    },
    /// The session has no interrupted or incomplete turn that could be resumed.
    #[error("session {0} has no turn that was interrupted or broken off; give it a prompt")]
    NothingToResume(SessionId),
    /// A value cannot be encoded as JSON.
    #[error("cannot be written as JSON: {0}")]
    Json(#[from] forklore_core::data::NotJson),
    /// A background task was cancelled or panicked, for example because the async runtime shuts
    /// down.
    #[error("the work was broken off: {0}")]
    Work(#[from] tokio::task::JoinError),
    /// The turn of a sub-agent panicked. The value is the panic message.
    #[error("the sub-agent crashed: {0}")]
    Crashed(String),
    /// A file operation failed.
    #[error("{doing}: {source}")]
    Io {
        /// The file operation that failed.
        doing: String,
        /// The cause.
        source: std::io::Error,
    },
}

impl Error {
    /// Returns the error kind for scripts (docs/semantics.md, Errors).
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Engine(error) | Self::Leased { source: error, .. } => error.kind(),
            Self::NotReady(source) | Self::Model { source, .. } => match source.kind {
                ModelErrorKind::Key => ErrorKind::PermissionDenied,
                ModelErrorKind::NotFound => ErrorKind::NotFound,
                ModelErrorKind::Invalid
                | ModelErrorKind::TooLong
                | ModelErrorKind::ForeignReasoning => ErrorKind::InvalidArgs,
                ModelErrorKind::Later(_) => ErrorKind::Busy,
                _ => ErrorKind::Internal,
            },
            Self::Denied { .. } => ErrorKind::PermissionDenied,
            Self::Running(_) => ErrorKind::Busy,
            Self::Ended(_)
            | Self::NothingToResume(_)
            | Self::NotADelegate(_)
            | Self::NoCaller
            | Self::IsAPlan(_) => ErrorKind::InvalidArgs,
            Self::Interrupted { .. } => ErrorKind::Interrupted,
            Self::Json(_) | Self::Work(_) | Self::Crashed(_) | Self::Io { .. } => {
                ErrorKind::Internal
            }
        }
    }

    /// Returns the details for scripts as a JSON object, without the kind (docs/semantics.md,
    /// Errors).
    #[must_use]
    pub fn details(&self) -> Value {
        match self {
            Self::Engine(error) => error.details(),
            Self::Leased { session, free_in, source } => json!({"session_id": session,
                "owner": source.holder().map(lease_owner::readable),
                "free_in_seconds": seconds(*free_in)}),
            Self::Model { attempts, source } => {
                json!({"provider": source.provider, "attempts": attempts})
            }
            Self::NotReady(source) => json!({"provider": source.provider}),
            Self::Denied { what, by, reason } => json!({"what": what, "by": by, "reason": reason}),
            Self::Running(session)
            | Self::Ended(session)
            | Self::IsAPlan(session)
            | Self::NothingToResume(session)
            | Self::NotADelegate(session) => json!({"session_id": session}),
            Self::Interrupted { session, usage } => {
                let usage: Vec<_> = usage.iter().map(to_value).collect();
                json!({"session_id": session, "usage": usage})
            }
            _ => json!({}),
        }
    }
}

/// Returns the number of seconds in `time`, rounded up.
fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_its_facts() {
        let running = Error::Running("s1".parse().unwrap());
        assert_eq!(running.kind(), ErrorKind::Busy);
        assert_eq!(running.details(), json!({"session_id": "s1"}));
        let source = ModelError {
            provider: "test".into(),
            message: "no".into(),
            kind: ModelErrorKind::Unreachable,
            status: None,
            source: None,
        };
        let model = Error::Model { attempts: 5, source };
        assert_eq!(model.details(), json!({"provider": "test", "attempts": 5}));
    }
}

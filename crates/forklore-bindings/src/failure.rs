//! Why a call failed, as the contract states it.

use std::fmt;

use forklore::Error;
use forklore::OpenError;
use forklore::store::Error as StoreError;
use forklore_api::{ErrorObject, Facts, Malformed};
use forklore_core::ErrorKind;
use serde_json::Value;

/// The result of a call. The error is [`Failure`] by default.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why a call failed. A failed call changes no session.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The kind of the error. The names of kinds do not change between versions.
    pub kind: ErrorKind,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The details of the error as a JSON object.
    pub details: Value,
    /// What the caller can do about it.
    pub next_actions: Vec<String>,
}

impl Failure {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let details = Value::Object(serde_json::Map::new());
        Self { kind, message: message.into(), details, next_actions: Vec::new() }
    }

    /// The failure of a request that is wrong in itself.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgs, message)
    }

    pub(crate) fn with_details(self, details: Value) -> Self {
        Self { details, ..self }
    }

    pub(crate) fn or_try(mut self, action: impl Into<String>) -> Self {
        self.next_actions.push(action.into());
        self
    }

    /// Returns the failure as the type of the contract.
    #[must_use]
    pub fn object(&self) -> ErrorObject {
        let details = serde_json::from_value(self.details.clone());
        ErrorObject {
            kind: self.kind,
            message: self.message.clone(),
            details: details.unwrap_or_else(|_| Facts::none()),
            next_actions: self.next_actions.clone(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self::new(error.kind(), error.to_string()).with_details(error.details());
        match next(&error) {
            Some(action) => failure.or_try(action),
            None => failure,
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Error::from(error).into()
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Store(error) => error.into(),
            error => Self::invalid(error.to_string()),
        }
    }
}

impl From<Malformed> for Failure {
    fn from(error: Malformed) -> Self {
        let details = serde_json::json!({ "path": error.path() });
        Self::invalid(error.to_string()).with_details(details)
    }
}

/// Suggests what a program can do about an error.
fn next(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::Store(StoreError::Conflict { .. }) => {
            "read what was appended, then repeat with that head; or fork the session"
        }
        Error::Store(StoreError::Deleted(_)) | Error::InTrash(_) => "undelete the session",
        Error::Store(StoreError::IdInUse(_)) => "choose another id",
        Error::Store(StoreError::LabelInUse { .. }) => "choose another label",
        Error::Store(StoreError::Leased { .. }) => "fork the session, or wait for its turn to end",
        Error::Store(StoreError::HasChildren { .. }) => {
            "delete with another mode: cascade or detach_children"
        }
        Error::Store(StoreError::Locked(_) | StoreError::StoreGone { .. }) => "repeat the call",
        Error::Store(StoreError::NotFound(_)) | Error::NoMatch { .. } => "list the sessions",
        _ => return None,
    })
}

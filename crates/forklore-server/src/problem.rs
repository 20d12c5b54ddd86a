//! What a failed request answers: problem details (RFC 9457) with forklore's kinds of errors.

use axum::Json;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use forklore::Error;
use forklore::store::Error as StoreError;
use forklore_api::Facts;
use forklore_core::ErrorKind;
use serde::{Deserialize, Serialize};

/// A failed request. The media type is `application/problem+json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// Names the kind, as `urn:forklore:error:KIND`.
    #[serde(rename = "type")]
    pub name: String,
    /// What the status says.
    pub title: String,
    /// The status of the response.
    pub status: u16,
    /// A description of this failure, in one sentence.
    pub detail: String,
    /// The kind of the error. The names of kinds do not change between versions.
    pub kind: ErrorKind,
    /// Machine-readable details of the error. Which fields they have depends on the error.
    pub details: Box<Facts>,
    /// Suggestions for what to do next.
    pub next_actions: Vec<String>,
}

impl Problem {
    /// Creates a problem with the status of its kind.
    pub(crate) fn new(kind: ErrorKind, detail: impl Into<String>) -> Self {
        Self::with_status(status(kind), kind, detail)
    }

    /// Creates a problem with another status than that of its kind.
    pub(crate) fn with_status(
        status: StatusCode,
        kind: ErrorKind,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            name: format!("urn:forklore:error:{}", kind.name()),
            title: status.canonical_reason().unwrap_or("Error").to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            kind,
            details: Box::new(Facts::none()),
            next_actions: Vec::new(),
        }
    }

    /// The problem of a request that is wrong in itself.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgs, detail)
    }

    /// Adds a suggestion.
    pub(crate) fn or_try(mut self, action: impl Into<String>) -> Self {
        self.next_actions.push(action.into());
        self
    }

    /// Turns a conflict with an expected head into a failed precondition, for a request with
    /// `If-Match`.
    pub(crate) fn of_precondition(mut self) -> Self {
        if self.kind == ErrorKind::Conflict {
            self.status = StatusCode::PRECONDITION_FAILED.as_u16();
            self.title = "Precondition Failed".to_owned();
        }
        self
    }
}

fn status(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::InvalidArgs => StatusCode::BAD_REQUEST,
        ErrorKind::PermissionDenied => StatusCode::FORBIDDEN,
        ErrorKind::Conflict
        | ErrorKind::AlreadyExists
        | ErrorKind::HasChildren
        | ErrorKind::Interrupted => StatusCode::CONFLICT,
        ErrorKind::Busy => StatusCode::LOCKED,
        ErrorKind::Unsupported | ErrorKind::BudgetExceeded => StatusCode::UNPROCESSABLE_ENTITY,
        // The store is damaged, or the server failed.
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let kind = error.kind();
        let mut problem = Self::new(kind, error.to_string());
        *problem.details =
            serde_json::from_value(error.details()).unwrap_or_else(|_| Facts::none());
        if let Error::Store(StoreError::Io { .. } | StoreError::StoreGone { .. }) = &error {
            // The store may be back soon; nothing says that the request was wrong.
            let status = StatusCode::SERVICE_UNAVAILABLE;
            problem.status = status.as_u16();
            problem.title = status.canonical_reason().unwrap_or_default().to_owned();
        }
        problem.next_actions = next(&error);
        problem
    }
}

impl From<forklore_web_chat::Refused> for Problem {
    fn from(refused: forklore_web_chat::Refused) -> Self {
        let mut problem = Self::new(refused.kind, refused.detail);
        *problem.details =
            serde_json::from_value(refused.details).unwrap_or_else(|_| Facts::none());
        problem.next_actions = refused.next_actions;
        problem
    }
}

/// Suggests what a client can do about an error.
fn next(error: &Error) -> Vec<String> {
    let action = match error {
        Error::Store(StoreError::Conflict { .. }) => {
            "read what was appended, then repeat with the head in details; or fork the session"
        }
        Error::Store(StoreError::Deleted(_)) | Error::InTrash(_) => {
            "POST /api/v1/sessions/ID/undelete brings it back"
        }
        Error::Store(StoreError::IdInUse(_)) => "choose another id",
        Error::Store(StoreError::LabelInUse { .. }) => "choose another label",
        Error::Store(StoreError::Leased { .. }) => {
            "fork the session, or wait for the end of its turn"
        }
        Error::Store(StoreError::HasChildren { .. }) => {
            "repeat with mode=cascade&dry_run=true to see what would be deleted, or mode=detach_children"
        }
        Error::Store(
            StoreError::Locked(_) | StoreError::Io { .. } | StoreError::StoreGone { .. },
        ) => "repeat the request",
        Error::Store(StoreError::NotFound(_)) | Error::NoMatch { .. } => {
            "GET /api/v1/sessions lists them"
        }
        _ => return Vec::new(),
    };
    vec![action.to_owned()]
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status);
        let mut headers = HeaderMap::new();
        let kind = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, kind);
        if self.status == StatusCode::UNAUTHORIZED.as_u16() {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if matches!(self.status, 423 | 503) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        (status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), headers, Json(self)).into_response()
    }
}

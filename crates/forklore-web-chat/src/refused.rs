//! A refused request, for the server to answer in the form that all its refusals have.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use forklore_core::ErrorKind;
use serde_json::Value;

/// Why a request was refused. As a response, it carries itself as an extension: the server makes its
/// problem details of it.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// What is wrong, in one sentence.
    pub detail: String,
    /// Details for programs, as a JSON object.
    pub details: Value,
    /// What to do next.
    pub next_actions: Vec<String>,
}

pub(crate) type Answer<T> = Result<T, Refused>;

impl Refused {
    pub(crate) fn new(kind: ErrorKind, detail: impl Into<String>) -> Self {
        let details = Value::Object(serde_json::Map::new());
        Self { kind, detail: detail.into(), details, next_actions: Vec::new() }
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgs, detail)
    }

    pub(crate) fn or_try(mut self, action: impl Into<String>) -> Self {
        self.next_actions.push(action.into());
        self
    }
}

impl From<forklore_engine::Error> for Refused {
    fn from(error: forklore_engine::Error) -> Self {
        Self { details: error.details(), ..Self::new(error.kind(), error.to_string()) }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        let mut response = (status, self.detail.clone()).into_response();
        response.extensions_mut().insert(self);
        response
    }
}

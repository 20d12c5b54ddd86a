//! What a request says: who sent it, its key, and its body.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use serde::de::DeserializeOwned;

use crate::refused::{Answer, Refused};

/// Who sent a request. The server puts it into the request's extensions.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The name of the token.
    pub name: String,
    /// Whether the caller may begin turns and answer questions.
    pub may_write: bool,
}

/// The most characters of a key.
const LONGEST_KEY: usize = 200;

/// The JSON value of a body, read strictly.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, state: &S) -> Answer<Self> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let essence = kind.and_then(|kind| kind.split(';').next()).map(str::trim);
        if !essence.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json")) {
            let detail = "the header Content-Type must be application/json";
            return Err(Refused::invalid(detail));
        }
        let bytes = Bytes::from_request(request, state).await;
        let bytes = bytes.map_err(|rejection| Refused::invalid(rejection.body_text()))?;
        let text = str::from_utf8(&bytes).map_err(|_| Refused::invalid("the body is not UTF-8"))?;
        // Serde also reads a list as a struct.
        if !text.trim_start().starts_with('{') {
            return Err(Refused::invalid("the body is not as it should be: it is no JSON object"));
        }
        let wrong = |error| Refused::invalid(format!("the body is not as it should be: {error}"));
        forklore_api::read(text).map(Self).map_err(wrong)
    }
}

/// The session that the path names, and what may follow it.
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Answer<Self> {
        let found = axum::extract::Path::from_request_parts(parts, state).await;
        let axum::extract::Path(found) =
            found.map_err(|rejection| Refused::invalid(rejection.body_text()))?;
        Ok(Self(found))
    }
}

/// Returns the value of the header `Idempotency-Key`.
pub(crate) fn key(headers: &HeaderMap) -> Answer<Option<String>> {
    let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
    let key = key.to_str().ok().filter(|key| !key.is_empty() && key.len() <= LONGEST_KEY);
    let wrong = || {
        let detail =
            format!("the header Idempotency-Key has 1 to {LONGEST_KEY} visible characters");
        Refused::invalid(detail)
    };
    key.map(|key| Some(key.to_owned())).ok_or_else(wrong)
}

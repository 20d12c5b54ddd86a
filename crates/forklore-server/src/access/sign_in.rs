//! The requests with which a browser logs in and out.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use forklore_core::ErrorKind;
use jiff::Timestamp;
use serde::Deserialize;

use super::login::Who;
use super::token::hash;
use crate::api::body::Body;
use crate::problem::Problem;
use crate::service::Service;

/// The body of a login.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Login {
    /// The secret of a link, or a token.
    secret: String,
}

/// Logs the browser in that has the secret of a link, or a token.
pub(crate) async fn log_in(
    State(service): State<Service>,
    Body(login): Body<Login>,
) -> Result<Response, Problem> {
    let who = match service.logins.take(&login.secret) {
        Some(caller) => Who::Starter(caller),
        None => {
            let sha256 = hash(&login.secret);
            service.owner(&sha256)?;
            Who::Owner(sha256)
        }
    };
    let cookie = service.logins.begin(who, Timestamp::now(), service.is_encrypted);
    let cookie = cookie.map_err(|error| Problem::new(ErrorKind::Internal, error.to_string()))?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

/// Logs the browser out.
pub(crate) async fn log_out(State(service): State<Service>, headers: HeaderMap) -> Response {
    let cookie = service.logins.end(&headers);
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response()
}

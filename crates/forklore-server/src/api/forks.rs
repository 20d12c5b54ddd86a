//! Forks, and what a branch brings back.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use axum::{Extension, Json};
use forklore_api::{Bring, Brought, Fork, Forked, Scope};
use forklore_core::SessionId;

use super::body::{JsonText, read_with};
use crate::access::Caller;
use crate::api::params::Path;
use crate::problem::Problem;
use crate::service::Service;

/// The header that makes the repetition of a fork harmless. Its value is the id of the child.
const KEY: &str = "idempotency-key";

pub(crate) async fn fork(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<SessionId>,
    headers: HeaderMap,
    JsonText(text): JsonText,
) -> Result<impl IntoResponse, Problem> {
    let mut request: Fork = read_with(&text, "parent_session_id", id.as_str())?;
    if !request.dry_run {
        caller.needs(Scope::Write)?;
    }
    if let Some(key) = headers.get(KEY) {
        let key: Option<SessionId> = key.to_str().ok().and_then(|key| key.parse().ok());
        let key = key.ok_or_else(|| {
            Problem::invalid(
                "the header Idempotency-Key is the id of the child: letters, digits and -._",
            )
        })?;
        if request.id.as_ref().is_some_and(|id| *id != key) {
            return Err(Problem::invalid("id is not the one that Idempotency-Key names"));
        }
        request.id = Some(key);
    }
    let dry_run = request.dry_run;
    let forked: Forked = service.call_as(&caller, move |engine| engine.fork(&request)).await?;
    let status = if dry_run { StatusCode::OK } else { StatusCode::CREATED };
    let path = format!("/api/v1/sessions/{}", forked.child_session_id);
    Ok((status, [(header::LOCATION, path)], Json(forked)))
}

pub(crate) async fn bring(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<SessionId>,
    JsonText(text): JsonText,
) -> Result<Json<Brought>, Problem> {
    let request: Bring = read_with(&text, "into_session_id", id.as_str())?;
    if !request.dry_run {
        caller.needs(Scope::Write)?;
    }
    Ok(Json(service.call_as(&caller, move |engine| engine.bring(&request)).await?))
}

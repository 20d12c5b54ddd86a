//! Attachments of sessions.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::IntoResponse;
use axum::{Extension, Json};
use forklore_api::{Attach, Attached, Attachments, Scope};
use forklore_core::{AttachmentId, SessionId};
use serde::Deserialize;

use super::bytes::{download, receive};
use super::tag;
use crate::access::Caller;
use crate::api::params::{Path, Query};
use crate::problem::Problem;
use crate::service::Service;

/// Media types that a browser shows without executing anything. All others are downloads.
const SHOWN: [&str; 6] =
    ["image/png", "image/jpeg", "image/gif", "image/webp", "text/plain", "application/json"];

pub(crate) async fn list(
    State(service): State<Service>,
    Path(session_id): Path<SessionId>,
) -> Result<Json<Attachments>, Problem> {
    let listed = service.call(move |engine| {
        let attachments = engine.attachments(&session_id)?;
        Ok(Attachments { session_id, attachments })
    });
    Ok(Json(listed.await?))
}

pub(crate) async fn read(
    State(service): State<Service>,
    Path((session, attachment)): Path<(SessionId, AttachmentId)>,
) -> Result<impl IntoResponse, Problem> {
    let found = service.call(move |engine| {
        let found = engine.attachments(&session)?;
        let named = found.into_iter().find(|named| named.id == attachment);
        named.ok_or(forklore::Error::NoAttachment(attachment))
    });
    let found = found.await?;
    let kind = found.media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let shown = SHOWN.into_iter().find(|shown| *shown == kind);
    let mut headers = HeaderMap::new();
    let kind = shown.unwrap_or("application/octet-stream");
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if shown.is_none() {
        let download = HeaderValue::from_static("attachment");
        headers.insert(header::CONTENT_DISPOSITION, download);
    }
    let id = found.id;
    let body = download(service, move |engine, out| engine.read_attachment(&id, out).map(drop));
    Ok((headers, body.await?))
}

/// What is said of an attachment whose bytes are the body.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    name: Option<String>,
    text: Option<String>,
    owner: Option<String>,
}

pub(crate) async fn add(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(session): Path<SessionId>,
    Query(Description { name, text, owner }): Query<Description>,
    headers: HeaderMap,
    body: Request,
) -> Result<impl IntoResponse, Problem> {
    caller.needs(Scope::Write)?;
    let mut request = Attach { name, text, owner, ..Attach::default() };
    request.expect = tag::expected(&headers)?;
    if let Some(kind) = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()) {
        kind.clone_into(&mut request.media_type);
    }
    let mut bytes = receive(&service, body, request.limit).await?;
    let attached: Attached = service
        .call_as(&caller, move |engine| engine.attach(&session, &mut bytes, &request))
        .await?;
    Ok((StatusCode::CREATED, Json(attached)))
}

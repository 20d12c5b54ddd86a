//! Sessions: list, create, show, change, delete.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::{Extension, response::IntoResponse};
use forklore::Engine;
use forklore::engine::{Create, DeleteMode, ListRequest, Listing};
use forklore_api::{
    Delete, Deleted, Detached, Scope, SessionAnswer, SessionPage, Undelete, Undeleted,
};
use forklore_core::workspace::Workspace;
use forklore_core::{Header, Label, SessionId, SessionKind};
use jiff::Timestamp;
use serde::Deserialize;

use super::body::{Body, JsonText, read_with};
use super::tag;
use crate::access::Caller;
use crate::api::params;
use crate::api::params::{Path, Query};
use crate::problem::Problem;
use crate::service::Service;

/// The most sessions of a page.
const MOST: usize = 1_000;
const USUAL: usize = 50;

/// Which sessions a list has.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    workspace: Option<String>,
    kind: Option<SessionKind>,
    since: Option<Timestamp>,
    limit: Option<usize>,
    after: Option<String>,
    #[serde(default)]
    deleted: bool,
}

pub(crate) async fn list(
    State(service): State<Service>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<SessionPage>, Problem> {
    let limit = params::limit(wanted.limit, USUAL, MOST)?;
    let request = ListRequest {
        workspace: wanted.workspace.as_deref().map(Workspace::new),
        kind: wanted.kind,
        since: wanted.since,
        limit,
        after: wanted.after,
        deleted: wanted.deleted,
    };
    let page = service.call(move |engine| {
        let Listing { sessions, next, problems } = engine.list(&request)?;
        let sessions = sessions.iter().map(|header| engine.described(header)).collect();
        Ok(SessionPage { sessions, next, problems })
    });
    Ok(Json(page.await?))
}

pub(crate) async fn create(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Body(request): Body<Create>,
) -> Result<impl IntoResponse, Problem> {
    caller.needs(Scope::Write)?;
    let created = service.call_as(&caller, move |engine| {
        let header = engine.create(&request)?;
        Ok(answer(engine, &header))
    });
    let (session, tag) = created.await?;
    Ok((StatusCode::CREATED, located(&session, tag), Json(session)))
}

pub(crate) async fn show(
    State(service): State<Service>,
    Path(id): Path<SessionId>,
) -> Result<impl IntoResponse, Problem> {
    let shown = service.call(move |engine| {
        let header = engine.show(&id)?;
        Ok(answer(engine, &header))
    });
    let (session, tag) = shown.await?;
    Ok(([(header::ETAG, tag)], Json(session)))
}

/// What changes of a session.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Changes {
    /// The new title; `null` removes it.
    #[serde(default, deserialize_with = "given")]
    title: Option<Option<String>>,
    label: Option<Label>,
}

fn given<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

pub(crate) async fn change(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<SessionId>,
    Body(changes): Body<Changes>,
) -> Result<impl IntoResponse, Problem> {
    caller.needs(Scope::Write)?;
    let changed = service.call_as(&caller, move |engine| {
        let mut header = engine.show(&id)?;
        if let Some(label) = &changes.label {
            header = engine.label(&id, label)?;
        }
        if let Some(title) = &changes.title {
            header = engine.rename(&id, title.as_deref())?;
        }
        Ok(answer(engine, &header))
    });
    let (session, tag) = changed.await?;
    Ok(([(header::ETAG, tag)], Json(session)))
}

/// How a session is deleted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Deletion {
    #[serde(default)]
    mode: DeleteMode,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    erase: bool,
}

pub(crate) async fn delete(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(session): Path<SessionId>,
    Query(Deletion { mode, dry_run, erase }): Query<Deletion>,
) -> Result<Json<Deleted>, Problem> {
    caller.needs(if erase { Scope::Admin } else { Scope::Write })?;
    let request = Delete { session, mode, dry_run, erase };
    Ok(Json(service.call_as(&caller, move |engine| engine.delete(&request)).await?))
}

pub(crate) async fn undelete(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<SessionId>,
    JsonText(text): JsonText,
) -> Result<Json<Undeleted>, Problem> {
    caller.needs(Scope::Write)?;
    let request: Undelete = read_with(&text, "session_id", id.as_str())?;
    Ok(Json(service.call_as(&caller, move |engine| engine.undelete(&request)).await?))
}

pub(crate) async fn detach(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<SessionId>,
) -> Result<Json<Detached>, Problem> {
    caller.needs(Scope::Write)?;
    Ok(Json(service.call_as(&caller, move |engine| engine.detach(&id)).await?))
}

/// Returns the answer for a session, and its entity tag.
pub(crate) fn answer(engine: &Engine, header: &Header) -> (SessionAnswer, String) {
    let summary = engine.has_summary(header);
    (SessionAnswer { session: engine.described(header), summary }, tag::of(header))
}

fn located(answer: &SessionAnswer, tag: String) -> [(HeaderName, HeaderValue); 2] {
    let path = format!("/api/v1/sessions/{}", answer.session.id);
    let value =
        |text: String| HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""));
    [(header::LOCATION, value(path)), (header::ETAG, value(tag))]
}

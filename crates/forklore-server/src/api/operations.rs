//! Operations, and how they are undone.

use axum::extract::State;
use axum::{Extension, Json};
use forklore_api::{
    OperationAnswer, OperationId, OperationPage, OperationsRequest, Scope, Undo, Undone,
};
use serde::Deserialize;

use super::body::Body;
use crate::access::Caller;
use crate::api::params;
use crate::api::params::{Path, Query};
use crate::problem::Problem;
use crate::service::Service;

/// The most operations of a page.
const MOST: usize = 1_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    before: Option<u64>,
    limit: Option<usize>,
}

pub(crate) async fn list(
    State(service): State<Service>,
    Query(Wanted { before, limit }): Query<Wanted>,
) -> Result<Json<OperationPage>, Problem> {
    let limit = params::limit(limit, OperationsRequest::LIMIT, MOST)?;
    let request = OperationsRequest { before: before.map(OperationId), limit };
    Ok(Json(service.call(move |engine| engine.operations(&request)).await?))
}

pub(crate) async fn show(
    State(service): State<Service>,
    Path(number): Path<u64>,
) -> Result<Json<OperationAnswer>, Problem> {
    Ok(Json(service.call(move |engine| engine.operation(OperationId(number))).await?))
}

/// How an operation is undone.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct How {
    /// Whether to undo what can be undone, if not all of it can.
    #[serde(default)]
    partial: bool,
    #[serde(default)]
    dry_run: bool,
}

pub(crate) async fn undo(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(number): Path<u64>,
    Body(How { partial, dry_run }): Body<How>,
) -> Result<Json<Undone>, Problem> {
    if !dry_run {
        caller.needs(Scope::Write)?;
    }
    let request = Undo { operation: Some(OperationId(number)), partial, dry_run };
    Ok(Json(service.call_as(&caller, move |engine| engine.undo(&request)).await?))
}

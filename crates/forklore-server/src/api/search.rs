//! Search and blame.

use axum::Json;
use axum::extract::State;
use forklore::search::SearchIndex;
use forklore_api::{Blame, BlameAnswer, HitKind, Search, SearchAnswer};
use forklore_core::Role;
use forklore_core::workspace::Workspace;
use jiff::Timestamp;
use serde::Deserialize;

use crate::api::params;
use crate::api::params::Query;
use crate::problem::Problem;
use crate::service::Service;

/// The most hits of a page.
const MOST: usize = 200;

/// What is searched.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    query: String,
    workspace: Option<String>,
    agent: Option<String>,
    role: Option<Role>,
    tool: Option<String>,
    kind: Option<HitKind>,
    since: Option<Timestamp>,
    limit: Option<usize>,
    after: Option<String>,
}

pub(crate) async fn search(
    State(service): State<Service>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<SearchAnswer>, Problem> {
    let request = Search {
        query: wanted.query,
        workspace: wanted.workspace.as_deref().map(Workspace::new),
        agent: wanted.agent,
        role: wanted.role,
        tool: wanted.tool,
        kind: wanted.kind,
        since: wanted.since,
        limit: params::limit(wanted.limit, Search::LIMIT, MOST)?,
        after: wanted.after,
    };
    Ok(Json(service.call(move |engine| SearchIndex::of(engine).search(&request)).await?))
}

/// The file that is looked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    path: String,
    since: Option<Timestamp>,
    limit: Option<usize>,
}

pub(crate) async fn blame(
    State(service): State<Service>,
    Query(File { path, since, limit }): Query<File>,
) -> Result<Json<BlameAnswer>, Problem> {
    let request = Blame { path, since, limit: params::limit(limit, Search::LIMIT, MOST)? };
    Ok(Json(service.call(move |engine| SearchIndex::of(engine).blame(&request)).await?))
}

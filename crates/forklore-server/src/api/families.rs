//! Families: trees, branches, ancestors, and how two sessions differ.

use axum::Json;
use axum::extract::State;
use forklore::Engine;
use forklore::engine::TreeRequest;
use forklore_api::{Branches, Difference, DifferenceStats, Lineage, NestedNode, Tree};
use forklore_core::SessionId;
use forklore_core::workspace::Workspace;
use serde::Deserialize;

use crate::api::params::{Path, Query};
use crate::problem::Problem;
use crate::service::Service;

/// How many levels of a tree an answer has at most.
const LEVELS: usize = 64;

/// Which families are wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    workspace: Option<String>,
    after: Option<String>,
    levels: Option<usize>,
}

pub(crate) async fn tree(
    State(service): State<Service>,
    Query(Wanted { workspace, after, levels }): Query<Wanted>,
) -> Result<Json<Tree>, Problem> {
    let workspace = workspace.as_deref().map(Workspace::new);
    let request = TreeRequest { session: None, workspace, after };
    let levels = depth(levels)?;
    Ok(Json(service.call(move |engine| trees(engine, &request, levels)).await?))
}

/// How much of a tree is wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Levels {
    levels: Option<usize>,
}

pub(crate) async fn tree_of(
    State(service): State<Service>,
    Path(id): Path<SessionId>,
    Query(Levels { levels }): Query<Levels>,
) -> Result<Json<Tree>, Problem> {
    let request = TreeRequest { session: Some(id), workspace: None, after: None };
    let levels = depth(levels)?;
    Ok(Json(service.call(move |engine| trees(engine, &request, levels)).await?))
}

fn depth(levels: Option<usize>) -> Result<usize, Problem> {
    match levels.unwrap_or(LEVELS) {
        levels if (1..=LEVELS).contains(&levels) => Ok(levels),
        _ => Err(Problem::invalid(format!("levels is a number from 1 to {LEVELS}"))),
    }
}

fn trees(engine: &Engine, request: &TreeRequest, levels: usize) -> Result<Tree, forklore::Error> {
    let mut trees = engine.tree(request)?;
    engine.mark_brought(&mut trees);
    engine.add_first_words(&mut trees);
    Ok(Tree {
        trees: NestedNode::of(&trees.nodes, levels),
        next: trees.next,
        problems: trees.problems,
    })
}

pub(crate) async fn branches(
    State(service): State<Service>,
    Path(id): Path<SessionId>,
) -> Result<Json<Branches>, Problem> {
    Ok(Json(service.call(move |engine| engine.branches(&id)).await?))
}

pub(crate) async fn lineage(
    State(service): State<Service>,
    Path(id): Path<SessionId>,
) -> Result<Json<Lineage>, Problem> {
    Ok(Json(service.call(move |engine| engine.lineage(&id)).await?))
}

/// The two sessions to compare.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pair {
    a: SessionId,
    b: SessionId,
}

pub(crate) async fn diff(
    State(service): State<Service>,
    Query(Pair { a, b }): Query<Pair>,
) -> Result<Json<Difference>, Problem> {
    Ok(Json(service.call(move |engine| engine.diff(&a, &b)).await?))
}

pub(crate) async fn diff_stats(
    State(service): State<Service>,
    Query(Pair { a, b }): Query<Pair>,
) -> Result<Json<DifferenceStats>, Problem> {
    Ok(Json(service.call(move |engine| engine.diff_stats(&a, &b)).await?))
}

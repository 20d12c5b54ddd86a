//! What sessions, events and bytes there are, and what they cost.

use axum::Json;
use axum::extract::State;
use forklore_api::{Stats, StatsAnswer};
use forklore_core::SessionId;
use serde::Deserialize;

use crate::api::params::{Path, Query};
use crate::problem::Problem;
use crate::service::Service;

pub(crate) async fn of_store(State(service): State<Service>) -> Result<Json<StatsAnswer>, Problem> {
    Ok(Json(answer(service.call(|engine| engine.stats(None)).await?)))
}

/// Whether the whole family counts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    #[serde(default)]
    family: bool,
}

pub(crate) async fn of_session(
    State(service): State<Service>,
    Path(id): Path<SessionId>,
    Query(Wanted { family }): Query<Wanted>,
) -> Result<Json<StatsAnswer>, Problem> {
    let stats = service.call(move |engine| match family {
        true => engine.family_stats(&id),
        false => engine.stats(Some(&id)),
    });
    Ok(Json(answer(stats.await?)))
}

fn answer(stats: Stats) -> StatsAnswer {
    StatsAnswer { stats, inherited_usage: None, currency: "USD".to_owned(), calls: None }
}

//! The sessions as resources, in the types of the contract. One file has one resource.

mod attachments;
pub(crate) mod body;
pub(crate) mod bytes;
pub(crate) mod events;
mod families;
mod forks;
mod leases;
#[cfg(feature = "schema")]
pub mod openapi;
mod operations;
pub(crate) mod params;
mod search;
mod sessions;
mod sources;
mod stats;
mod tag;

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::{get, post, put};

use crate::live::stream;
use crate::service::Service;

/// The description of every route (OpenAPI 3.1).
const DESCRIPTION: &str = include_str!("../../../docs/reference/openapi.json");

/// The routes under `/api/v1`.
pub(crate) fn router() -> Router<Service> {
    Router::new()
        .route("/openapi.json", get(description))
        .route("/sessions", get(sessions::list).post(sessions::create))
        .route(
            "/sessions/{id}",
            get(sessions::show).patch(sessions::change).delete(sessions::delete),
        )
        .route("/sessions/{id}/undelete", post(sessions::undelete))
        .route("/sessions/{id}/detach", post(sessions::detach))
        .route("/sessions/{id}/events", get(events::list).post(events::append))
        .route("/sessions/{id}/events/live", get(stream::session))
        .route("/sessions/{id}/messages", get(events::messages))
        .route("/sessions/{id}/context", get(events::context))
        .route("/sessions/{id}/forks", post(forks::fork))
        .route("/sessions/{id}/brought", post(forks::bring))
        .route("/sessions/{id}/tree", get(families::tree_of))
        .route("/sessions/{id}/branches", get(families::branches))
        .route("/sessions/{id}/lineage", get(families::lineage))
        .route("/sessions/{id}/stats", get(stats::of_session))
        .route("/sessions/{id}/lease", put(leases::take).delete(leases::release))
        .route("/sessions/{id}/attachments", get(attachments::list).post(attachments::add))
        .route("/sessions/{id}/attachments/{attachment}", get(attachments::read))
        .route("/sessions/{id}/files", get(sources::list))
        .route("/sessions/{id}/file", get(sources::restore))
        .route("/diff", get(families::diff))
        .route("/diff/stats", get(families::diff_stats))
        .route("/tree", get(families::tree))
        .route("/search", get(search::search))
        .route("/blame", get(search::blame))
        .route("/stats", get(stats::of_store))
        .route("/operations", get(operations::list))
        .route("/operations/{number}", get(operations::show))
        .route("/operations/{number}/undo", post(operations::undo))
        .route("/events", get(stream::store))
}

async fn description() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], DESCRIPTION)
}

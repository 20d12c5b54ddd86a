//! The sessions as resources, in the types of the contract. One file has one resource.

mod attachments;
pub(crate) mod body;
pub(crate) mod bytes;
mod events;
mod exports;
mod families;
mod forks;
mod graph;
mod imports;
mod leases;
pub(crate) mod line;
#[cfg(feature = "schema")]
pub mod openapi;
mod operations;
pub(crate) mod params;
mod search;
mod sessions;
mod sources;
mod stats;
mod tag;
mod upkeep;

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::MethodRouter;

use crate::live::stream;
use crate::service::Service;

/// The description of every route (OpenAPI 3.1).
const DESCRIPTION: &str = include_str!("../../../docs/reference/openapi.json");

/// Defines the router, and the list of its routes, which a test compares with the description.
macro_rules! routes {
    ($($path:literal => $($method:ident $handler:path),+;)*) => {
        /// The routes under `/api/v1`.
        pub(crate) fn router() -> Router<Service> {
            Router::new()$(.route($path, MethodRouter::new()$(.$method($handler))+))*
        }

        /// The method and the path of every route, below `/api/v1`.
        #[cfg(feature = "schema")]
        pub const ROUTES: &[(&str, &str)] = &[$($((stringify!($method), $path)),+),*];
    };
}

routes! {
    "/openapi.json" => get description;
    "/sessions" => get sessions::list, post sessions::create;
    "/sessions/{id}" => get sessions::show, patch sessions::change, delete sessions::delete;
    "/sessions/{id}/undelete" => post sessions::undelete;
    "/sessions/{id}/detach" => post sessions::detach;
    "/sessions/{id}/events" => get events::list, post events::append;
    "/sessions/{id}/events/live" => get stream::session;
    "/sessions/{id}/messages" => get events::messages;
    "/sessions/{id}/context" => get events::context;
    "/sessions/{id}/forks" => post forks::fork;
    "/sessions/{id}/brought" => post forks::bring;
    "/sessions/{id}/tree" => get families::tree_of;
    "/sessions/{id}/branches" => get families::branches;
    "/sessions/{id}/lineage" => get families::lineage;
    "/sessions/{id}/stats" => get stats::of_session;
    "/sessions/{id}/lease" => put leases::take, delete leases::release;
    "/sessions/{id}/attachments" => get attachments::list, post attachments::add;
    "/sessions/{id}/attachments/{attachment}" => get attachments::read;
    "/sessions/{id}/files" => get sources::list;
    "/sessions/{id}/file" => get sources::restore;
    "/sessions/{id}/export" => get exports::export;
    "/sessions/{id}/resume-in" => get exports::resume_in;
    "/sessions/{id}/verification" => get upkeep::verify_session;
    "/imports" => post imports::import;
    "/redactions" => post upkeep::redact;
    "/diff" => get families::diff;
    "/diff/stats" => get families::diff_stats;
    "/tree" => get families::tree;
    "/search" => get search::search;
    "/blame" => get search::blame;
    "/graph" => get graph::graph;
    "/sparql" => post graph::sparql;
    "/vocabulary/{part}" => get graph::vocabulary;
    "/stats" => get stats::of_store;
    "/operations" => get operations::list;
    "/operations/{number}" => get operations::show;
    "/operations/{number}/undo" => post operations::undo;
    "/verification" => get upkeep::verify;
    "/verification/sample" => post upkeep::verify_sample;
    "/gc" => post upkeep::gc;
    "/retention" => post upkeep::apply_retention;
    "/pack" => post upkeep::pack;
    "/events" => get stream::store;
}

async fn description() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], DESCRIPTION)
}

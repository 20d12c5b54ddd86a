//! All routes, with the checks in front of them.

use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::{any, get, post};
use axum::{Extension, Router};

use forklore_web::Pages;
use forklore_web_chat::Chat;

use crate::access::{Caller, guard, page, sign_in};
use crate::api::body::LONGEST_BODY;
use crate::problem::Problem;
use crate::service::Service;
use crate::tenants::Tenants;
use crate::{api, store};

/// Returns all routes. Requests of a caller who sees a tenant go to the routes of that tenant.
pub(crate) fn router(
    service: &Service,
    pages: Pages,
    chat: &Chat,
    tenants: &Arc<Tenants>,
) -> Router {
    let state = (service.clone(), tenants.clone());
    let guarded = guarded(service, pages, chat).layer(from_fn_with_state(state, guard::caller));
    let open = Router::new()
        .route("/login", post(sign_in::log_in).delete(sign_in::log_out))
        .route("/login.css", get(page::style))
        .route("/login.js", get(page::script))
        .route("/health", get(health))
        .with_state(service.clone());
    open.merge(guarded).layer(from_fn_with_state(service.clone(), guard::site))
}

/// Returns the routes of a tenant's store. They have no agent: its tools run on this machine, and it works
/// for the server's own store.
pub(crate) fn of_tenant(service: &Service, pages: Pages) -> Router {
    let chat = Chat::new(None, pages.clone());
    guarded(service, pages, &chat)
}

/// Returns the routes of one store, for callers that are known.
fn guarded(service: &Service, pages: Pages, chat: &Chat) -> Router {
    let pages = forklore_web::router(pages).layer(from_fn(guard::pages));
    let talking = forklore_web_chat::pages(chat).layer(from_fn(guard::talk));
    let turns = forklore_web_chat::api(chat).layer(from_fn(guard::talk));
    let api = api::router().merge(turns);
    Router::new()
        .merge(talking)
        .nest("/api/v1", api.fallback(nothing).method_not_allowed_fallback(not_allowed))
        .route("/store/{*call}", post(store::call))
        .route("/mcp", any(agents))
        .fallback_service(pages)
        .layer(from_fn_with_state(service.clone(), guard::log))
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .with_state(service.clone())
}

async fn agents(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    service.agents.answer(&caller, request).await
}

/// Says that the server answers. Needs no token and says nothing of the store.
async fn health() -> &'static str {
    "ok\n"
}

async fn nothing() -> Problem {
    Problem::new(forklore_core::ErrorKind::NotFound, "this server has no such path")
        .or_try("GET /api/v1/openapi.json lists them")
}

async fn not_allowed() -> Problem {
    let status = axum::http::StatusCode::METHOD_NOT_ALLOWED;
    let kind = forklore_core::ErrorKind::InvalidArgs;
    Problem::with_status(status, kind, "this path does not have the method")
}

//! The addresses.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use forklore_core::SessionId;

use crate::chat::Chat;
use crate::refused::Answer;
use crate::request::{Body, Caller, Path, key};
use crate::types::{AnswerApproval, ApprovalAnswered, SendTurn, TurnState};
use crate::{assets, follow, new_session, page};

/// The method and the path of every route for programs, below `/api/v1`.
pub const ROUTES: &[(&str, &str)] = &[
    ("post", "/sessions/{id}/turns"),
    ("get", "/sessions/{id}/turns/current"),
    ("post", "/sessions/{id}/turns/current/interrupt"),
    ("get", "/sessions/{id}/turns/live"),
    ("post", "/sessions/{id}/approvals/{approval}"),
];

/// Returns the routes for programs, to be mounted under `/api/v1`.
pub fn api<S: Clone + Send + Sync + 'static>(chat: &Chat) -> Router<S> {
    Router::new()
        .route("/sessions/{id}/turns", post(send))
        .route("/sessions/{id}/turns/current", get(current))
        .route("/sessions/{id}/turns/current/interrupt", post(interrupt))
        .route("/sessions/{id}/turns/live", get(follow::live))
        .route("/sessions/{id}/approvals/{approval}", post(answer))
        .with_state(chat.clone())
}

/// Returns the pages, to be mounted at `/`.
pub fn pages<S: Clone + Send + Sync + 'static>(chat: &Chat) -> Router<S> {
    Router::new()
        .route("/s/{id}/chat", get(page::show))
        .route("/chat/new", get(new_session::form).post(new_session::make))
        .route("/chat/assets/{file}", get(assets::serve))
        .with_state(chat.clone())
}

async fn send(
    State(chat): State<Chat>,
    Path(id): Path<SessionId>,
    headers: HeaderMap,
    Body(request): Body<SendTurn>,
) -> Answer<impl IntoResponse> {
    let key = key(&headers)?;
    let talk = chat.talk(&id).await?;
    let began = talk.begin(chat.agent()?, request, key).await?;
    let follow = format!("/api/v1/sessions/{id}/turns/live");
    Ok((StatusCode::ACCEPTED, [(header::LOCATION, follow)], Json(began)))
}

async fn current(State(chat): State<Chat>, Path(id): Path<SessionId>) -> Answer<Json<TurnState>> {
    Ok(Json(chat.talk(&id).await?.shown()))
}

async fn interrupt(State(chat): State<Chat>, Path(id): Path<SessionId>) -> Answer<Json<TurnState>> {
    Ok(Json(chat.talk(&id).await?.interrupt()?))
}

async fn answer(
    State(chat): State<Chat>,
    Extension(caller): Extension<Caller>,
    Path((id, approval)): Path<(SessionId, String)>,
    Body(AnswerApproval { answer }): Body<AnswerApproval>,
) -> Answer<Json<ApprovalAnswered>> {
    Ok(Json(chat.talk(&id).await?.decide(&approval, answer, &caller.name)?))
}

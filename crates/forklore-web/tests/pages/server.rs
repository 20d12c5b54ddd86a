//! A server on loopback with the pages and an imitation of the streams of events, without login.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::middleware::map_response;
use axum::response::Response;
use axum::response::sse::{Event, Sse};
use axum::routing::get;
use forklore_engine::Engine;
use forklore_store::port::Since;
use forklore_web::{Pages, router};
use futures_util::Stream;

/// The policy of the server that the pages are made for.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; \
     form-action 'self'; frame-ancestors 'none'";

pub(crate) fn served(engine: Engine) -> Router {
    let events = Router::new()
        .route("/api/v1/events", get(of_store))
        .route("/api/v1/sessions/{id}/events/live", get(of_session))
        .with_state(engine.clone());
    router(Pages::new(engine)).merge(events).layer(map_response(with_policy))
}

async fn with_policy(mut response: Response) -> Response {
    let policy = HeaderValue::from_static(POLICY);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

async fn of_store(State(engine): State<Engine>) -> Sse<impl Stream<Item = Answer>> {
    stream(engine, None)
}

async fn of_session(
    State(engine): State<Engine>,
    Path(id): Path<String>,
) -> Sse<impl Stream<Item = Answer>> {
    stream(engine, Some(id))
}

type Answer = Result<Event, Infallible>;

/// Streams the feed of the store: one event for each page of changes that names the session.
fn stream(engine: Engine, session: Option<String>) -> Sse<impl Stream<Item = Answer>> {
    let next = move |since: Since| {
        let (engine, session) = (engine.clone(), session.clone());
        async move {
            let mut since = since;
            loop {
                let (engine, from) = (engine.clone(), since.clone());
                let read = move || engine.store().changes(&from, 100, Duration::from_millis(500));
                let changes = tokio::task::spawn_blocking(read).await.ok()?.ok()?;
                since = Since::Mark(changes.mark.clone());
                let is_it = |id: &str| session.as_deref().is_none_or(|session| session == id);
                if changes.sessions.iter().any(|change| is_it(change.session.as_str())) {
                    let data = serde_json::to_string(&changes.sessions).ok()?;
                    let event = Event::default().id(changes.mark.as_str()).data(data);
                    return Some((Ok(event), since));
                }
            }
        }
    };
    let stream = futures_util::stream::unfold(Since::Now, next);
    Sse::new(stream)
}

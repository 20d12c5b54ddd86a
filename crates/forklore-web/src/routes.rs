//! The addresses of the pages.

use std::sync::{Arc, Once};

use axum::Router;
use axum::extract::{Form, Path, State};
use axum::http::{StatusCode, header};
use axum::middleware::map_response;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};

use crate::answer::{Answer, Problem, blocking, on_thread, page};
use crate::families::Families;
use crate::params::{Params, session};
use crate::rewind::Rights;
use crate::stats::Cached;
use crate::{
    App, Pages, Shared, assets, change, compare, event, family, files, fork, jump, list_view,
    reader, rewind, runs, stats_view,
};

/// Returns the pages as a router, to be mounted at `/`. The caller checks who may see them, and sets
/// the content security policy.
pub fn router(pages: Pages) -> Router {
    let (report, families, searched) = (Cached::default(), Families::default(), Once::new());
    let app = App { pages, report, families, searched };
    Router::new()
        .route("/", get(sessions))
        .route("/fragments/sessions", get(sessions_fragment))
        .route("/s/{id}", get(read))
        .route("/fragments/s/{id}", get(read_fragment))
        .route("/f/{id}", get(family_page))
        .route("/fragments/f/{id}", get(family_part))
        .route("/compare", get(compare_chosen))
        .route("/compare/{a}/{b}", get(compare_page))
        .route("/runs", get(runs_page))
        .route("/stats", get(stats))
        .route("/fragments/stats", get(stats_part))
        .route("/s/{id}/e/{seq}", get(event_page))
        .route("/s/{id}/e/{seq}/file/{number}", get(file))
        .route("/attachment/{id}", get(attachment))
        .route("/s/{id}/go", get(go))
        .route("/s/{id}/change", get(change_page))
        .route("/s/{id}/name", post(change_name))
        .route("/s/{id}/delete", post(delete))
        .route("/s/{id}/undelete", post(undelete))
        .route("/s/{id}/fork", get(fork_page).post(make_fork))
        .route("/fragments/fork/{id}", get(fork_form))
        .route("/assets/{file}", get(assets::serve))
        .merge(rewind::routes())
        .fallback(nothing)
        .layer(map_response(explained))
        .with_state(Arc::new(app))
}

type Page = Answer<Html<String>>;

async fn sessions(State(app): State<Shared>, params: Params) -> Page {
    app.prepare_search();
    page(&app, move |pages| list_view::page(pages, &params)).await
}

async fn sessions_fragment(State(app): State<Shared>, params: Params) -> Page {
    page(&app, move |pages| list_view::fragment(pages, &params)).await
}

async fn read(State(app): State<Shared>, Path(id): Path<String>, params: Params) -> Page {
    page(&app, move |pages| reader::page(pages, &session(&id)?, &params)).await
}

async fn read_fragment(State(app): State<Shared>, Path(id): Path<String>, params: Params) -> Page {
    page(&app, move |pages| reader::fragment(pages, &session(&id)?, &params)).await
}

async fn event_page(State(app): State<Shared>, Path((id, seq)): Path<(String, u64)>) -> Page {
    page(&app, move |pages| event::page(pages, &session(&id)?, seq)).await
}

async fn family_page(State(app): State<Shared>, Path(id): Path<String>, params: Params) -> Page {
    let page = on_thread(move || family::page(&app, &session(&id)?, &params));
    Ok(Html(page.await?.into_string()))
}

async fn family_part(State(app): State<Shared>, Path(id): Path<String>, params: Params) -> Page {
    let part = on_thread(move || family::part(&app, &session(&id)?, &params));
    Ok(Html(part.await?.into_string()))
}

async fn compare_chosen(params: Params) -> Answer<Redirect> {
    Ok(Redirect::to(&compare::chosen(&params)?))
}

async fn compare_page(
    State(app): State<Shared>,
    Path((a, b)): Path<(String, String)>,
    params: Params,
) -> Page {
    page(&app, move |pages| compare::page(pages, &session(&a)?, &session(&b)?, &params)).await
}

async fn stats(State(app): State<Shared>, params: Params) -> Page {
    let report = on_thread(move || match params.get("wait") {
        Some(_) => app.report.read(&app.pages).map(Some),
        None => app.report.read_if_fast(&app.pages),
    });
    Ok(Html(stats_view::page(report.await?.as_deref()).into_string()))
}

async fn stats_part(State(app): State<Shared>) -> Page {
    let report = on_thread(move || app.report.read(&app.pages)).await?;
    Ok(Html(stats_view::sums(&report).into_string()))
}

async fn file(
    State(app): State<Shared>,
    Path((id, seq, number)): Path<(String, u64, usize)>,
) -> Answer<files::File> {
    blocking(app, move |pages| files::of_event(&pages.engine, &session(&id)?, seq, number)).await
}

async fn attachment(State(app): State<Shared>, Path(id): Path<String>) -> Answer<files::File> {
    blocking(app, move |pages| files::attachment(&pages.engine, &id)).await
}

async fn fork_page(
    State(app): State<Shared>,
    rights: Rights,
    Path(id): Path<String>,
    params: Params,
) -> Page {
    page(&app, move |pages| fork::page(pages, rights, &session(&id)?, &params)).await
}

async fn fork_form(
    State(app): State<Shared>,
    rights: Rights,
    Path(id): Path<String>,
    params: Params,
) -> Page {
    page(&app, move |pages| fork::form(pages, rights, &session(&id)?, &params)).await
}

async fn make_fork(
    State(app): State<Shared>,
    rights: Rights,
    Path(id): Path<String>,
    Form(form): Submitted,
) -> Answer<Redirect> {
    let form = Params::from(form);
    let made = blocking(app, move |pages| {
        fork::Submitted::of(&pages.engine, session(&id)?, &form)?.make(pages, rights)
    });
    Ok(Redirect::to(&made.await?))
}

async fn go(State(app): State<Shared>, Path(id): Path<String>, params: Params) -> Answer<Redirect> {
    let address = blocking(app, move |pages| {
        let to = params.get("to").ok_or_else(|| Problem::bad("Say where to go."))?;
        jump::address(&pages.engine, &session(&id)?, to)
    });
    Ok(Redirect::to(&address.await?))
}

async fn runs_page(State(app): State<Shared>, params: Params) -> Page {
    page(&app, move |pages| runs::page(pages, &params)).await
}

async fn change_page(State(app): State<Shared>, Path(id): Path<String>) -> Page {
    page(&app, move |pages| change::page(pages, &session(&id)?)).await
}

type Submitted = Form<Vec<(String, String)>>;

async fn change_name(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Form(form): Submitted,
) -> Answer<Redirect> {
    let form = Params::from(form);
    let done = blocking(app, move |pages| change::name(&pages.engine, &session(&id)?, &form));
    Ok(Redirect::to(&done.await?))
}

async fn delete(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Form(form): Submitted,
) -> Answer<Redirect> {
    let form = Params::from(form);
    let done = blocking(app, move |pages| change::delete(&pages.engine, &session(&id)?, &form));
    Ok(Redirect::to(&done.await?))
}

async fn undelete(State(app): State<Shared>, Path(id): Path<String>) -> Answer<Redirect> {
    let done = blocking(app, move |pages| change::undelete(&pages.engine, &session(&id)?));
    Ok(Redirect::to(&done.await?))
}

async fn nothing() -> Problem {
    Problem::missing("No page of forklore has this address.")
}

/// Shows an error that has no page yet as a page, such as that of a wrong method.
async fn explained(response: Response) -> Response {
    let status = response.status();
    let is_html = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|it| it.to_str().is_ok_and(|media_type| media_type.starts_with("text/html")));
    if is_html || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let message = match status {
        StatusCode::METHOD_NOT_ALLOWED => "This address answers only to other requests.",
        StatusCode::BAD_REQUEST => "A part of this address is not valid.",
        _ => "The request is not valid.",
    };
    let mut page = Problem::new(status, message).into_response();
    if let Some(allow) = response.headers().get(header::ALLOW) {
        page.headers_mut().insert(header::ALLOW, allow.clone());
    }
    page
}

//! The addresses of the files of a session, and of the way back to them.

use axum::Router;
use axum::extract::{Form, Path, State};
use axum::response::{Html, Redirect};
use axum::routing::{get, post};

use super::means::Rights;
use super::plan::Wanted;
use super::state::With;
use super::{choice, outcome, plan, state};
use crate::Shared;
use crate::answer::{Answer, blocking, page};
use crate::params::{Params, session};

type Page = Answer<Html<String>>;
type Submitted = Form<Vec<(String, String)>>;

/// Returns the routes.
pub(crate) fn routes() -> Router<Shared> {
    Router::new()
        .route("/s/{id}/files", get(files).post(files_now))
        .route("/s/{id}/rewind", get(choose).post(rewind))
        .route("/s/{id}/rewind/plan", post(plan_page))
        .route("/s/{id}/rewind/undo", post(undo))
        .route("/fragments/rewind/{id}", get(choose_part).post(plan_part))
}

async fn files(
    State(app): State<Shared>,
    rights: Rights,
    Path(id): Path<String>,
    params: Params,
) -> Page {
    let read = move |pages: &_| state::page(pages, rights, &session(&id)?, &params, With::Before);
    page(&app, read).await
}

async fn files_now(
    State(app): State<Shared>,
    rights: Rights,
    Path(id): Path<String>,
    Form(form): Submitted,
) -> Page {
    let form = Params::from(form);
    page(&app, move |pages| state::page(pages, rights, &session(&id)?, &form, With::Now)).await
}

async fn choose(
    State(app): State<Shared>,
    rights: Rights,
    Path(id): Path<String>,
    params: Params,
) -> Page {
    page(&app, move |pages| choice::page(pages, rights, &session(&id)?, &params)).await
}

async fn choose_part(
    State(app): State<Shared>,
    rights: Rights,
    Path(id): Path<String>,
    params: Params,
) -> Page {
    page(&app, move |pages| choice::form(pages, rights, &session(&id)?, &params)).await
}

async fn plan_page(
    State(app): State<Shared>,
    rights: Rights,
    Path(id): Path<String>,
    Form(form): Submitted,
) -> Page {
    let form = Params::from(form);
    let plan = move |pages: &_| plan::plan(pages, rights, &session(&id)?, &Wanted::of(&form)?);
    page(&app, move |pages| Ok(choice::framed(&plan(pages)?))).await
}

async fn plan_part(
    State(app): State<Shared>,
    rights: Rights,
    Path(id): Path<String>,
    Form(form): Submitted,
) -> Page {
    let form = Params::from(form);
    page(&app, move |pages| plan::plan(pages, rights, &session(&id)?, &Wanted::of(&form)?)).await
}

async fn rewind(
    State(app): State<Shared>,
    rights: Rights,
    Path(id): Path<String>,
    Form(form): Submitted,
) -> Answer<Redirect> {
    let form = Params::from(form);
    let done = blocking(app, move |pages| {
        plan::rewind(pages, rights, &session(&id)?, &Wanted::of(&form)?)
    });
    Ok(Redirect::to(&done.await?))
}

async fn undo(
    State(app): State<Shared>,
    rights: Rights,
    Path(id): Path<String>,
    Form(form): Submitted,
) -> Answer<Redirect> {
    let form = Params::from(form);
    let done = blocking(app, move |pages| outcome::undo(pages, rights, &session(&id)?, &form));
    Ok(Redirect::to(&done.await?))
}

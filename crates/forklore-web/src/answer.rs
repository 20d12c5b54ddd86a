//! Answers requests: reads the store on a thread that may block, and shows errors as pages.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use forklore_core::ErrorKind;
use forklore_engine::Error;
use forklore_workspace::Error as FilesError;
use maud::{Markup, html};

use crate::shell::Shell;
use crate::shown::Block;
use crate::{Pages, Shared};

/// Why a request has no other answer. As a response, it is a page.
#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    message: String,
}

pub(crate) type Answer<T> = Result<T, Problem>;

impl Problem {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// The request itself is wrong.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// What the request names does not exist.
    pub fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// The server itself failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    /// Whoever asks, or this server, may not do it.
    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    fn title(&self) -> &'static str {
        match self.status {
            StatusCode::NOT_FOUND => "There is no such page",
            StatusCode::BAD_REQUEST => "This address cannot be read",
            StatusCode::METHOD_NOT_ALLOWED => "This page only shows something",
            status if status.is_client_error() => "This is not possible now",
            _ => "This did not work",
        }
    }
}

fn status_of(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::InvalidArgs => StatusCode::BAD_REQUEST,
        ErrorKind::PermissionDenied => StatusCode::FORBIDDEN,
        ErrorKind::Conflict
        | ErrorKind::AlreadyExists
        | ErrorKind::HasChildren
        | ErrorKind::Busy => StatusCode::CONFLICT,
        ErrorKind::Unsupported => StatusCode::NOT_IMPLEMENTED,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::new(status_of(error.kind()), error.to_string())
    }
}

impl From<FilesError> for Problem {
    fn from(error: FilesError) -> Self {
        let status = status_of(error.kind());
        match &error {
            FilesError::Stopped { number, .. } => {
                let undo = format!("{error}. `forklore undo {number}` takes it back.");
                Self::new(status, undo)
            }
            _ => Self::new(status, error.to_string()),
        }
    }
}

impl From<forklore_store::Error> for Problem {
    fn from(error: forklore_store::Error) -> Self {
        Error::from(error).into()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let shell = Shell { title: self.title(), ..Shell::default() };
        let page = shell.page(&html! {
            section.narrow.problem {
                h1 { (self.title()) }
                p { (Block(&self.message)) }
                p { a href="/" { "All sessions" } }
            }
        });
        (self.status, Html(page.into_string())).into_response()
    }
}

/// Reads or changes the store on a thread that may block.
pub(crate) async fn blocking<T: Send + 'static>(
    app: Shared,
    work: impl FnOnce(&Pages) -> Answer<T> + Send + 'static,
) -> Answer<T> {
    on_thread(move || work(&app.pages)).await
}

/// Does work on a thread that may block.
pub(crate) async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Answer<T> + Send + 'static,
) -> Answer<T> {
    let failed = |_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the server stopped working");
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}

/// Answers with a page that is read on a thread that may block.
pub(crate) async fn page(
    app: &Shared,
    work: impl FnOnce(&Pages) -> Answer<Markup> + Send + 'static,
) -> Answer<Html<String>> {
    Ok(Html(blocking(Arc::clone(app), work).await?.into_string()))
}

//! The page on which a browser logs in.

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

const PAGE: &str = include_str!("../../assets/login.html");
const STYLE: &str = include_str!("../../assets/login.css");
const SCRIPT: &str = include_str!("../../assets/login.js");

/// Checks whether a request comes from a browser that wants to show a page.
pub(crate) fn is_wanted(method: &Method, path: &str, headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT).and_then(|accepts| accepts.to_str().ok());
    *method == Method::GET
        && !path.starts_with("/api/")
        && accepts.is_some_and(|accepts| accepts.contains("text/html"))
}

/// Returns the page as the answer to a browser that is not logged in.
pub(crate) fn page() -> Response {
    (StatusCode::UNAUTHORIZED, of_type("text/html; charset=utf-8"), PAGE).into_response()
}

pub(crate) async fn style() -> impl IntoResponse {
    (of_type("text/css; charset=utf-8"), STYLE)
}

pub(crate) async fn script() -> impl IntoResponse {
    (of_type("text/javascript; charset=utf-8"), SCRIPT)
}

fn of_type(kind: &'static str) -> [(header::HeaderName, HeaderValue); 1] {
    [(header::CONTENT_TYPE, HeaderValue::from_static(kind))]
}

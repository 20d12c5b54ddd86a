//! Entity tags. That of a session is the seq of its last event, so that `If-Match` is the head that a
//! writer expects.

use axum::http::{HeaderMap, StatusCode, header};
use forklore_core::{ErrorKind, Header};

use crate::problem::Problem;

/// Returns the entity tag of a session.
pub(crate) fn of(header: &Header) -> String {
    of_head(header.head_seq())
}

/// Returns the entity tag of a session whose last event has this seq.
pub(crate) fn of_head(head: i64) -> String {
    format!("\"{head}\"")
}

/// Returns the head that the header `If-Match` expects, if the request has it.
pub(crate) fn expected(headers: &HeaderMap) -> Result<Option<i64>, Problem> {
    let Some(value) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let wrong = || {
        let detail =
            "the header If-Match is the ETag of a session: its head in quotes, such as \"7\"";
        Problem::with_status(StatusCode::PRECONDITION_FAILED, ErrorKind::InvalidArgs, detail)
    };
    let text = value.to_str().map_err(|_| wrong())?;
    if text == "*" {
        return Ok(None);
    }
    let head = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    head.and_then(|head| head.parse().ok()).map(Some).ok_or_else(wrong)
}

//! The JSON body of a request, read strictly: an unknown field, or anything behind the value, is an
//! error that names its path.

use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use forklore_core::ErrorKind;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::bytes::next_piece;
use crate::problem::Problem;

/// The largest body of a request, in bytes, except for attachments. A batch of events is smaller.
pub(crate) const LONGEST_BODY: usize = 64 << 20;

/// The value of a body.
pub(crate) struct Body<T>(pub(crate) T);

/// Bytes of a body that are JSON.
pub(crate) struct JsonText(pub(crate) String);

impl<S: Send + Sync> FromRequest<S> for JsonText {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let essence = kind.and_then(|kind| kind.split(';').next()).map(str::trim);
        if !essence.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json")) {
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            let detail = "the header Content-Type must be application/json";
            return Err(Problem::with_status(status, ErrorKind::InvalidArgs, detail));
        }
        let text = String::from_utf8(received(request).await?);
        Ok(Self(text.map_err(|_| Problem::invalid("the body is not UTF-8"))?))
    }
}

/// Receives a body. A client that sends nothing for a while, or too much, is refused.
async fn received(request: Request) -> Result<Vec<u8>, Problem> {
    let too_long = || {
        let detail = format!("a body has at most {LONGEST_BODY} bytes");
        Problem::with_status(StatusCode::PAYLOAD_TOO_LARGE, ErrorKind::InvalidArgs, detail)
    };
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok());
    if length.and_then(|it| it.parse().ok()).is_some_and(|length: usize| length > LONGEST_BODY) {
        return Err(too_long());
    }
    let (mut bytes, mut pieces) = (Vec::new(), request.into_body().into_data_stream());
    loop {
        let Some(piece) = next_piece(&mut pieces).await? else { return Ok(bytes) };
        if bytes.len() + piece.len() > LONGEST_BODY {
            return Err(too_long());
        }
        bytes.extend_from_slice(&piece);
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let JsonText(text) = JsonText::from_request(request, state).await?;
        read(&text).map(Self)
    }
}

/// Reads a value of the contract.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    // Serde also reads a list as a struct.
    if !text.trim_start().starts_with('{') {
        return Err(Problem::invalid("the body is not as it should be: it is no JSON object"));
    }
    forklore_api::read(text).map_err(|error| {
        let mut problem = Problem::invalid(format!("the body is not as it should be: {error}"));
        *problem.details = details(error.path());
        problem
    })
}

fn details(path: &str) -> forklore_api::Facts {
    let details = serde_json::json!({ "path": Value::from(path) });
    serde_json::from_value(details).unwrap_or_else(|_| forklore_api::Facts::none())
}

/// Reads a value that names a session of the path in one of its fields. The body may leave it out.
pub(crate) fn read_with<T: DeserializeOwned>(
    text: &str,
    field: &str,
    value: &str,
) -> Result<T, Problem> {
    let found: std::collections::BTreeMap<String, Box<serde_json::value::RawValue>> = read(text)?;
    let named = serde_json::to_string(value).unwrap_or_default();
    match found.get(field) {
        Some(given) if given.get() == named => read(text),
        Some(_) => Err(Problem::invalid(format!("{field} is not the session of the path"))),
        None => {
            let rest = text.trim_start().strip_prefix('{').unwrap_or_default();
            let comma = if found.is_empty() { "" } else { "," };
            let field = serde_json::to_string(field).unwrap_or_default();
            read(&format!("{{{field}:{named}{comma}{rest}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use forklore_api::Fork;

    use super::*;

    #[test]
    fn the_session_of_the_path_may_be_left_out() {
        let fork = |text: &str| read_with::<Fork>(text, "parent_session_id", "plan-1");
        let expected = Fork::of("plan-1".parse().unwrap());
        assert_eq!(fork("{}").unwrap(), expected);
        assert_eq!(fork(" { } ").unwrap(), expected);
        assert_eq!(fork(r#"{"parent_session_id":"plan-1"}"#).unwrap(), expected);
        let label = Fork { label: Some("b".parse().unwrap()), ..expected };
        assert_eq!(fork(r#"{"label":"b"}"#).unwrap(), label);
        for wrong in [
            r#"{"parent_session_id":"plan-2"}"#,
            "[]",
            "",
            "{} {}",
            r#"{"x":1}"#,
            r#"{"label":"b"} x"#,
        ] {
            assert_eq!(fork(wrong).unwrap_err().status, 400, "{wrong}");
        }
    }
}

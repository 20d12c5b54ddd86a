//! Classifies failed requests by what the caller can do about them.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use forklore_agent::model::ModelErrorKind;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde::Deserialize;

/// The maximum number of characters that are shown of a server's message.
const MAX_MESSAGE_LENGTH: usize = 400;

/// The information in the body of an error response.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Report {
    /// The server's message, on one line.
    pub(crate) message: String,
    /// The error codes of the server: the values of `type`, `code` and `status`.
    codes: Vec<String>,
    /// Whether the body is an error in the JSON form of a model API. An HTML page or plain text
    /// comes from another program, such as a proxy.
    is_reported: bool,
}

#[derive(Deserialize)]
struct Wrapped<'a> {
    #[serde(default, borrow)]
    error: Option<&'a serde_json::value::RawValue>,
}

/// The fields of an error object in a server's response. `detail` is FastAPI's field for the
/// message.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(default, borrow)]
    message: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    r#type: Option<&'a serde_json::value::RawValue>,
    #[serde(default, borrow)]
    code: Option<&'a serde_json::value::RawValue>,
    #[serde(default, borrow)]
    status: Option<&'a serde_json::value::RawValue>,
    #[serde(default, borrow)]
    detail: Option<&'a serde_json::value::RawValue>,
}

impl Report {
    /// Parses the body of an error response: JSON in the form of any provider, an HTML page, or
    /// plain text.
    pub(crate) fn of(body: &str) -> Self {
        let trimmed = body.trim();
        // Gemini wraps the error in a list if the request was for a stream.
        let inner = trimmed.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        let inner = inner.unwrap_or(trimmed);
        let wrapped = serde_json::from_str::<Wrapped<'_>>(inner).ok().and_then(|it| it.error);
        let error = wrapped.map_or(inner, |error| error.get());
        if let Some(text) = wrapped.and_then(|it| serde_json::from_str::<String>(it.get()).ok()) {
            return Self { message: one_line(&text), codes: Vec::new(), is_reported: true };
        }
        if let Ok(fields) = serde_json::from_str::<Fields<'_>>(error) {
            let is_reported =
                wrapped.is_some() || fields.message.is_some() || fields.detail.is_some();
            let codes = [fields.r#type, fields.code, fields.status].into_iter().flatten();
            let codes = codes.map(|code| code.get().trim_matches('"').to_owned()).collect();
            let detail = fields.detail.map(|detail| detail.get().into());
            let message = fields.message.or(detail);
            let message = message.map_or_else(|| one_line(error), |it| one_line(&it));
            return Self { message, codes, is_reported };
        }
        if trimmed.starts_with('<') {
            let title = page_title(trimmed);
            let title = title.map_or_else(String::new, |title| format!(": {}", one_line(title)));
            return Self { message: format!("an HTML page{title}"), ..Self::default() };
        }
        Self { message: one_line(trimmed), ..Self::default() }
    }

    fn says(&self, words: &[&str]) -> bool {
        let message = self.message.to_ascii_lowercase();
        words.iter().any(|word| message.contains(word) || self.codes.iter().any(|it| it == word))
    }

    fn is_too_long(&self) -> bool {
        self.says(&[
            "context_length_exceeded",
            "exceed_context_size_error",
            "model_context_window_exceeded",
            "maximum context length",
            "prompt is too long",
            "available context size",
            "input token count",
            "context window",
            "request_too_large",
        ])
    }

    /// Checks whether the server refuses reasoning because it belongs to another conversation.
    /// Anthropic binds a block of thinking to the messages before it.
    fn has_foreign_reasoning(&self) -> bool {
        self.says(&["bound to a different conversation"])
    }

    fn has_code(&self, code: &str) -> bool {
        self.codes.iter().any(|it| it == code)
    }

    /// Returns the kind of the error in a response with this HTTP status and these headers.
    pub(crate) fn kind(&self, status: StatusCode, headers: &HeaderMap) -> ModelErrorKind {
        match status.as_u16() {
            _ if self.is_too_long() => ModelErrorKind::TooLong,
            _ if self.has_foreign_reasoning() => ModelErrorKind::ForeignReasoning,
            _ if self.says(&["insufficient_quota", "api_key_invalid", "api key not valid"]) => {
                ModelErrorKind::Key
            }
            401..=403 => ModelErrorKind::Key,
            404 | 405 | 410 => ModelErrorKind::NotFound,
            413 => ModelErrorKind::TooLong,
            408 | 409 | 425 | 429 | 500..=599 => ModelErrorKind::Later(retry_after(headers)),
            // Only the error object of an API shows that the request itself is invalid.
            400..=499 if self.is_reported => ModelErrorKind::Invalid,
            _ => ModelErrorKind::Malformed,
        }
    }

    /// Returns the kind of an error that the server reported in the middle of a response.
    pub(crate) fn kind_in_stream(&self) -> ModelErrorKind {
        if self.is_too_long() {
            ModelErrorKind::TooLong
        } else if self.has_foreign_reasoning() {
            ModelErrorKind::ForeignReasoning
        } else if self.has_code("invalid_request_error") || self.has_code("400") {
            ModelErrorKind::Invalid
        } else {
            ModelErrorKind::Later(None)
        }
    }
}

/// Returns the title of an HTML page, or `None` if the page has no title.
fn page_title(page: &str) -> Option<&str> {
    let lower = page.to_ascii_lowercase();
    let start = lower.find("<title>")? + "<title>".len();
    let end = start + lower.get(start..)?.find("</title>")?;
    page.get(start..end)
}

/// Returns the text on one line, cut after [`MAX_MESSAGE_LENGTH`] characters.
pub(crate) fn one_line(text: &str) -> String {
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = words.char_indices().nth(MAX_MESSAGE_LENGTH) {
        words.truncate(end);
        words.push_str("...");
    }
    words
}

/// Returns how long the client must wait before a retry, if a header says so.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    if let Some(millis) = text("retry-after-ms").and_then(|it| it.trim().parse().ok()) {
        return Some(Duration::from_millis(millis));
    }
    let text = text("retry-after")?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let when = httpdate::parse_http_date(text).ok()?;
    Some(when.duration_since(SystemTime::now()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(status: u16, body: &str) -> ModelErrorKind {
        Report::of(body).kind(StatusCode::from_u16(status).unwrap(), &HeaderMap::new())
    }

    fn message(body: &str) -> String {
        Report::of(body).message
    }

    #[test]
    fn each_provider_says_it_in_its_way() {
        let openai = r#"{"error":{"message":"Incorrect API key","type":"invalid_request_error","code":"invalid_api_key"}}"#;
        assert_eq!(
            (message(openai), kind(401, openai)),
            ("Incorrect API key".into(), ModelErrorKind::Key)
        );
        let anthropic = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#;
        assert_eq!(kind(400, anthropic), ModelErrorKind::TooLong);
        let gemini = r#"[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]"#;
        assert_eq!(
            (message(gemini), kind(400, gemini)),
            ("API key not valid.".into(), ModelErrorKind::Key)
        );
        let llama = r#"{"error":{"code":400,"message":"request (9 tokens) exceeds the available context size (8 tokens)","type":"exceed_context_size_error","n_ctx":8}}"#;
        assert_eq!(kind(400, llama), ModelErrorKind::TooLong);
        let openai =
            r#"{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}"#;
        assert_eq!(kind(429, openai), ModelErrorKind::Key);
        assert_eq!(message(r#"{"error":"model not found"}"#), "model not found");
        assert_eq!(kind(404, r#"{"error":"model not found"}"#), ModelErrorKind::NotFound);
        assert_eq!(kind(529, ""), ModelErrorKind::Later(None));
        let bound = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block."}}"#;
        assert_eq!(kind(400, bound), ModelErrorKind::ForeignReasoning);
        assert_eq!(Report::of(bound).kind_in_stream(), ModelErrorKind::ForeignReasoning);
    }

    #[test]
    fn only_an_api_says_that_a_request_is_wrong() {
        for body in [
            r#"{"error":{"message":"unknown field","type":"invalid_request_error"}}"#,
            r#"[{"error":{"code":400,"message":"unknown name","status":"INVALID_ARGUMENT"}}]"#,
            r#"{"error":"a field is missing"}"#,
            r#"{"object":"error","message":"bad","type":"BadRequestError","code":400}"#,
            r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#,
        ] {
            assert_eq!(kind(400, body), ModelErrorKind::Invalid, "{body}");
            assert_eq!(kind(422, body), ModelErrorKind::Invalid, "{body}");
        }
        let huge = format!(r#"{{"error":{{"message":"{}"#, "x".repeat(70_000));
        for body in ["", "what?", "<html><title>Bad Request</title>", "{}", "[]", "null", &huge] {
            assert_eq!(kind(400, body), ModelErrorKind::Malformed, "{body}");
        }
        for status in [300, 301, 302, 307, 308] {
            assert_eq!(kind(status, ""), ModelErrorKind::Malformed);
        }
        assert_eq!(message(r#"{"detail":"no"}"#), "\"no\"");
    }

    #[test]
    fn a_number_in_the_words_of_an_error_is_no_code() {
        let broken = |body: &str| Report::of(body).kind_in_stream();
        let busy = r#"{"message":"waited 400 ms","code":503}"#;
        assert_eq!(broken(busy), ModelErrorKind::Later(None));
        assert_eq!(broken(r#"{"message":"no","code":400}"#), ModelErrorKind::Invalid);
    }

    #[test]
    fn a_page_is_reported_by_its_title() {
        let page = "<!DOCTYPE html>\n<html><head><TITLE>502\n Bad Gateway</TITLE></head></html>";
        assert_eq!(message(page), "an HTML page: 502 Bad Gateway");
        assert_eq!(message("<html>"), "an HTML page");
    }

    #[test]
    fn a_message_is_one_line_of_bounded_length() {
        let message = message(&format!("a\n\n{}", "é".repeat(1000)));
        assert_eq!(message, format!("a {}...", "é".repeat(MAX_MESSAGE_LENGTH - 2)));
    }

    #[test]
    fn a_retry_time_comes_in_three_forms() {
        let after = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            retry_after(&headers)
        };
        assert_eq!(after("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(after("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(after("retry-after-ms", "1200"), Some(Duration::from_millis(1200)));
        assert_eq!(after("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        assert_eq!(after("retry-after", "-1"), None);
        assert_eq!(after("retry-after", "soon"), None);
    }
}

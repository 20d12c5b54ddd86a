//! Sends HTTP requests: creates the client, the URL and the headers, and reads error responses.

use std::fmt::Write as _;
use std::future::Future;
use std::time::Duration;

use forklore_agent::model::ModelErrorKind;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, ClientBuilder, Response, Url};

use crate::config::{ModelConfig, Provider};
use crate::failure::{Report, one_line};
use crate::key::KeyLookup;

/// The maximum number of bytes that are read from the body of an error response.
const MOST_FAILURE: usize = 64 << 10;

/// Why a request to a model server failed. The caller adds the name of the model.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) kind: ModelErrorKind,
    pub(crate) message: String,
    /// The HTTP status, if the server answered with an error.
    pub(crate) status: Option<u16>,
    pub(crate) source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Failed {
    pub(crate) fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), status: None, source: None }
    }
}

/// Creates the HTTP client. It follows no redirects, because a redirect could send the API key to
/// another host.
pub(crate) fn client() -> Result<Client, Failed> {
    built(builder())
}

/// Creates an HTTP client that ignores the proxies that the environment names, for requests to this
/// machine.
pub(crate) fn client_without_proxy() -> Result<Client, Failed> {
    built(builder().no_proxy())
}

fn builder() -> ClientBuilder {
    // An error means that another part of the program already installed a crypto provider, which
    // works too.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(concat!("forklore/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(30))
}

fn built(builder: ClientBuilder) -> Result<Client, Failed> {
    builder.build().map_err(|error| of_transport(error, "cannot be asked over HTTP"))
}

/// Returns the URL of a request: the base URL of the model and `path`. An error describes what is
/// wrong with the configured `base_url`.
pub(crate) fn url(config: &ModelConfig, path: &str) -> Result<Url, Failed> {
    let base = config.address();
    let wrong = |why: &str| {
        Failed::new(
            ModelErrorKind::Invalid,
            format!("the base_url {why}: expected https://HOST/PATH"),
        )
    };
    let url = Url::parse(&format!("{base}/{path}"))
        .map_err(|error| Failed { source: Some(Box::new(error)), ..wrong("is no address") })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("begins with neither http:// nor https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("holds a user name or a password, which belong into key_env"));
    }
    Ok(url)
}

/// Returns the headers of a request, including the API key.
pub(crate) fn headers(provider: Provider, key: &KeyLookup) -> Result<HeaderMap, Failed> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    if provider == Provider::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    let (name, before) = match provider {
        Provider::Anthropic => ("x-api-key", ""),
        Provider::Gemini => ("x-goog-api-key", ""),
        Provider::OpenAi | Provider::Ollama => ("authorization", "Bearer "),
    };
    match key {
        KeyLookup::None => {}
        KeyLookup::Key(key) => {
            if let Some(value) = key.header(before) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
        KeyLookup::NotSet(variable) => {
            let message = format!("no key: the environment variable {variable} is not set");
            return Err(Failed::new(ModelErrorKind::Key, message));
        }
        KeyLookup::Invalid(variable) => {
            let message = format!("{variable} holds characters that no key has");
            return Err(Failed::new(ModelErrorKind::Key, message));
        }
    }
    Ok(headers)
}

/// Sends a request, and waits at most `patience` for the headers of the response. For an error
/// response, reads the body and returns the error that it describes.
pub(crate) async fn post(
    client: &Client,
    url: Url,
    headers: HeaderMap,
    body: Vec<u8>,
    patience: Duration,
) -> Result<Response, Failed> {
    let sent = client.post(url).headers(headers).body(body).send();
    let response =
        in_time(patience, sent).await?.map_err(|error| of_transport(error, "cannot be reached"))?;
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let headers = response.headers().clone();
    let body = in_time(patience, text(response)).await.unwrap_or_default();
    let report = Report::of(&body);
    let kind = report.kind(status, &headers);
    let mut message = status.as_str().to_owned();
    if let Some(reason) = status.canonical_reason() {
        message = format!("{message} {reason}");
    }
    if let Some(to) = headers.get("location").and_then(|to| to.to_str().ok()) {
        let _ = write!(message, ": moved to {}", one_line(to));
    }
    if !report.message.is_empty() {
        let _ = write!(message, ": {}", report.message);
    }
    Err(Failed { status: Some(status.as_u16()), ..Failed::new(kind, message) })
}

/// Waits at most `patience` for a future to complete. A timeout is a failure of the request.
pub(crate) async fn in_time<T>(
    patience: Duration,
    awaited: impl Future<Output = T>,
) -> Result<T, Failed> {
    tokio::time::timeout(patience, awaited).await.map_err(|error| Failed {
        source: Some(Box::new(error)),
        ..Failed::new(
            ModelErrorKind::TimedOut,
            format!("nothing came for {} s", patience.as_secs_f64()),
        )
    })
}

/// Reads the body of a response as text, at most its first 64 KiB.
pub(crate) async fn text(mut response: Response) -> String {
    let mut bytes = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        bytes.extend_from_slice(&chunk);
        if bytes.len() >= MOST_FAILURE {
            bytes.truncate(MOST_FAILURE);
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Converts a transport error to a failure whose message is the innermost cause. Omits the URL,
/// because the URL is private to the user.
pub(crate) fn of_transport(error: reqwest::Error, what: &str) -> Failed {
    let error = error.without_url();
    let mut reason: &dyn std::error::Error = &error;
    while let Some(inner) = reason.source() {
        reason = inner;
    }
    let message = format!("{what}: {}", one_line(&reason.to_string()));
    let kind = if error.is_timeout() {
        ModelErrorKind::TimedOut
    } else if error.is_builder() {
        ModelErrorKind::Invalid
    } else {
        ModelErrorKind::Unreachable
    };
    Failed { source: Some(Box::new(error)), ..Failed::new(kind, message) }
}

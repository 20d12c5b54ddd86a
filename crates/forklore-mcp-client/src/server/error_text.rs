//! Writes error messages for failures of a server, without type names of the MCP library.

use std::error::Error;

use forklore_sanitize::terminal;
use rmcp::ServiceError;
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

/// Returns an error message that explains why a server did not initialize.
pub(super) fn refused(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it ended before it was ready".to_owned(),
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_) => "it does not speak MCP".to_owned(),
        ClientInitializeError::JsonRpcError(error) => escaped(&error.message),
        ClientInitializeError::TransportError { error, .. } => transport(error),
        other => escaped(&other.to_string()),
    }
}

/// Returns an error message that explains why a request failed.
pub(super) fn failed(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => escaped(&error.message),
        ServiceError::TransportSend(error) => transport(error),
        ServiceError::TransportClosed => "the connection was closed".to_owned(),
        other => escaped(&other.to_string()),
    }
}

fn transport(error: &DynamicTransportError) -> String {
    let error = error.error.as_ref();
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) => escaped(&chain(error)),
        _ => escaped(&chain(error)),
    }
}

/// Returns the messages of an error and of all its sources.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let more = error.to_string();
        if !text.ends_with(&more) {
            text = format!("{text}: {more}");
        }
        source = error.source();
    }
    text
}

fn escaped(text: &str) -> String {
    terminal::line(text).into_owned()
}

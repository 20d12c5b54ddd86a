//! What went wrong with a server, in words that are not about types of a library.

use std::error::Error;

use forklore_sanitize::terminal;
use rmcp::ServiceError;
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

/// Why a server was not ready.
pub(super) fn refused(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it ended before it was ready".to_owned(),
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_) => "it does not speak MCP".to_owned(),
        ClientInitializeError::JsonRpcError(error) => shown(&error.message),
        ClientInitializeError::TransportError { error, .. } => sent(error),
        other => shown(&other.to_string()),
    }
}

/// Why a request had no answer.
pub(super) fn failed(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => shown(&error.message),
        ServiceError::TransportSend(error) => sent(error),
        ServiceError::TransportClosed => "the connection was closed".to_owned(),
        other => shown(&other.to_string()),
    }
}

fn sent(error: &DynamicTransportError) -> String {
    let error = error.error.as_ref();
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) => shown(&chain(error)),
        _ => shown(&chain(error)),
    }
}

/// An error with everything that lies behind it.
fn chain(error: &dyn Error) -> String {
    let mut said = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let more = error.to_string();
        if !said.ends_with(&more) {
            said = format!("{said}: {more}");
        }
        source = error.source();
    }
    said
}

fn shown(text: &str) -> String {
    terminal::line(text).into_owned()
}

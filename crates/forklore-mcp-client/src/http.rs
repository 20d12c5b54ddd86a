//! Connects to servers that communicate over streamable HTTP.

use std::collections::{BTreeMap, HashMap};

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::RoleClient;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, Transport};

use crate::server::StartError;

/// Returns the transport to the server at `url`. The `rmcp` crate limits a response to 16 MiB.
pub(crate) fn transport(
    url: &str,
    header_env: &BTreeMap<String, String>,
    token_env: Option<&str>,
) -> Result<impl Transport<RoleClient> + 'static, StartError> {
    // An error means that the application already installed another crypto provider, which works
    // too.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(headers(header_env, token_env)?)
        .reinit_on_expired_session(true);
    Ok(StreamableHttpClientTransport::from_config(config))
}

/// Returns the configured request headers, with their values from environment variables. No error
/// message shows the values.
fn headers(
    header_env: &BTreeMap<String, String>,
    token_env: Option<&str>,
) -> Result<HashMap<HeaderName, HeaderValue>, StartError> {
    let token = token_env.map(|variable| ("Authorization", variable, "Bearer "));
    let named = header_env.iter().map(|(header, variable)| (header.as_str(), &**variable, ""));
    named.chain(token).map(|(header, variable, before)| read(header, variable, before)).collect()
}

/// Returns a header whose value is the prefix `before`, followed by the value of an environment
/// variable.
fn read(
    header: &str,
    variable: &str,
    before: &str,
) -> Result<(HeaderName, HeaderValue), StartError> {
    let wrong = |what| {
        let (header, variable) = (header.to_owned(), variable.to_owned());
        StartError::Header { header, variable, what }
    };
    let name = HeaderName::try_from(header).map_err(|_| wrong("is no name of a header"))?;
    let value = std::env::var(variable)
        .map_err(|_| StartError::Variable { variable: variable.to_owned() })?;
    let mut value = HeaderValue::try_from(format!("{before}{value}"))
        .map_err(|_| wrong("has a value that no header can have"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

//! Explains the errors of a server that denies access, with advice for the configuration.

use forklore_sanitize::terminal;
use rmcp::ServiceError;
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::config::Connection;
use crate::name::ServerName;
use crate::redact::redact_values;

/// The maximum length of the server's reply in an error message, in characters.
const MAX_REPLY_LENGTH: usize = 200;

/// An HTTP response with status 401 or 403. Contains the server's reply, which the error message
/// shows.
#[derive(Debug)]
pub(super) struct Denied {
    status: u16,
    reply: String,
}

impl Denied {
    /// Returns the 401 or 403 response that made the initialization of a server fail. Returns
    /// `None` if the initialization failed for another reason.
    pub(super) fn at_start(error: &ClientInitializeError) -> Option<Self> {
        match error {
            ClientInitializeError::TransportError { error, .. } => Self::of(error),
            _ => None,
        }
    }

    /// Returns the 401 or 403 response that made a request fail. Returns `None` if the request
    /// failed for another reason.
    pub(super) fn later(error: &ServiceError) -> Option<Self> {
        match error {
            ServiceError::TransportSend(error) => Self::of(error),
            _ => None,
        }
    }

    fn of(error: &DynamicTransportError) -> Option<Self> {
        match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>()? {
            StreamableHttpError::AuthRequired(challenge) => {
                Some(Self::new(401, &challenge.www_authenticate_header))
            }
            StreamableHttpError::InsufficientScope(challenge) => {
                Some(Self::new(403, &challenge.www_authenticate_header))
            }
            StreamableHttpError::UnexpectedServerResponse(text) => {
                let (status, reply) = text.strip_prefix("HTTP ")?.split_once(": ")?;
                match status.split(' ').next() {
                    Some("401") => Some(Self::new(401, reply)),
                    Some("403") => Some(Self::new(403, reply)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn new(status: u16, reply: &str) -> Self {
        Self { status, reply: reply.trim().to_owned() }
    }

    /// Returns the error message: the server's reply, and the part of the configuration that is
    /// missing or that the server refused.
    pub(super) fn message(&self, server: &ServerName, connection: &Connection) -> String {
        let variables = match connection {
            Connection::Program { .. } => Vec::new(),
            Connection::Address { header_env, token_env, .. } => {
                header_env.values().chain(token_env).map(String::as_str).collect()
            }
        };
        let advice = match (variables.as_slice(), self.status) {
            ([], _) => {
                let variable = server.to_string().to_uppercase().replace('-', "_");
                format!(
                    "name the environment variable with your token in [tools.{server}], as in \
                     token_env = \"{variable}_TOKEN\" (forklore does not sign in by OAuth: make a \
                     token with what the server offers for it)"
                )
            }
            (variables, 403) => format!("what {} holds does not allow it", variables.join(", ")),
            (variables, _) => format!("it does not take what {} holds", variables.join(", ")),
        };
        format!("{}; {advice}", self.answer(&variables))
    }

    /// Returns a sentence with the HTTP status and the server's reply. Secrets in the reply are
    /// redacted.
    fn answer(&self, secrets: &[&str]) -> String {
        let name = if self.status == 403 { "Forbidden" } else { "Unauthorized" };
        let reply: String = redact_values(&self.reply, secrets.iter().copied())
            .chars()
            .take(MAX_REPLY_LENGTH)
            .collect();
        let reply = if reply.is_empty() { reply } else { format!(" ({})", terminal::line(&reply)) };
        format!("it answers {} {name}{reply}", self.status)
    }
}

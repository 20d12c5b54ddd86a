//! A server that does not know who asks, and what to write into the configuration so that it does.

use forklore_sanitize::terminal;
use rmcp::ServiceError;
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::config::Reached;
use crate::name::ServerName;
use crate::secret::hidden;

/// Of what a server says about it so much is repeated.
const REPEATED: usize = 200;

/// The answer of a server over HTTP that lets nobody in: 401 or 403.
#[derive(Debug)]
pub(super) struct Denied {
    status: u16,
    said: String,
}

impl Denied {
    /// If that is why a server was not ready.
    pub(super) fn at_start(error: &ClientInitializeError) -> Option<Self> {
        match error {
            ClientInitializeError::TransportError { error, .. } => Self::of(error),
            _ => None,
        }
    }

    /// If that is why a request had no answer.
    pub(super) fn later(error: &ServiceError) -> Option<Self> {
        match error {
            ServiceError::TransportSend(error) => Self::of(error),
            _ => None,
        }
    }

    fn of(error: &DynamicTransportError) -> Option<Self> {
        match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>()? {
            StreamableHttpError::AuthRequired(asked) => {
                Some(Self::new(401, &asked.www_authenticate_header))
            }
            StreamableHttpError::InsufficientScope(asked) => {
                Some(Self::new(403, &asked.www_authenticate_header))
            }
            StreamableHttpError::UnexpectedServerResponse(text) => {
                let (status, said) = text.strip_prefix("HTTP ")?.split_once(": ")?;
                match status.split(' ').next() {
                    Some("401") => Some(Self::new(401, said)),
                    Some("403") => Some(Self::new(403, said)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn new(status: u16, said: &str) -> Self {
        Self { status, said: said.trim().to_owned() }
    }

    /// What it says, and what to do about it.
    pub(super) fn told(&self, server: &ServerName, reached: &Reached) -> String {
        let held = match reached {
            Reached::Program { .. } => Vec::new(),
            Reached::Address { header_env, token_env, .. } => {
                header_env.values().chain(token_env).map(String::as_str).collect()
            }
        };
        let advice = match (held.as_slice(), self.status) {
            ([], _) => {
                let variable = server.to_string().to_uppercase().replace('-', "_");
                format!(
                    "name the environment variable with your token in [tools.{server}], as in \
                     token_env = \"{variable}_TOKEN\" (forklore does not sign in by OAuth: make a \
                     token with what the server offers for it)"
                )
            }
            (held, 403) => format!("what {} holds does not allow it", held.join(", ")),
            (held, _) => format!("it does not take what {} holds", held.join(", ")),
        };
        format!("{}; {advice}", self.answer(&held))
    }

    /// What it answers, without what it was given in secret.
    fn answer(&self, secrets: &[&str]) -> String {
        let name = if self.status == 403 { "Forbidden" } else { "Unauthorized" };
        let said: String =
            hidden(&self.said, secrets.iter().copied()).chars().take(REPEATED).collect();
        let said = if said.is_empty() { said } else { format!(" ({})", terminal::line(&said)) };
        format!("it answers {} {name}{said}", self.status)
    }
}

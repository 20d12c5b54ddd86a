//! Why one exchange with the server failed, and what that says about the call.

use forklore_store::Error;
use ureq::Timeout;

use crate::address::TOKEN;

/// Why an exchange failed.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The answer of the store.
    Store(Error),
    /// The server was not reached, so nothing was executed.
    Unreached(String),
    /// The server refuses calls for now, so nothing was executed.
    Busy(String),
    /// The server refuses this call, so nothing was executed.
    Refused(Error),
    /// The connection ended, or the time was over. It is not known whether the call was executed.
    Lost(String),
    /// The answer is not that of a forklore server. It is not known whether the call was executed.
    Garbled(Error),
}

impl Failed {
    /// Checks whether the call may have been executed.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Garbled(_))
    }

    /// Checks whether the same call may succeed a little later.
    pub(crate) fn is_temporary(&self) -> bool {
        matches!(self, Self::Unreached(_) | Self::Busy(_) | Self::Lost(_))
    }

    /// Returns the failure of an exchange that ended without an answer.
    pub(crate) fn of(error: ureq::Error) -> Self {
        use std::io::ErrorKind;
        let text = text(&error);
        match error {
            ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed
            | ureq::Error::ConnectProxyFailed(_)
            | ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => Self::Unreached(text),
            ureq::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => {
                Self::Unreached(text)
            }
            // The library for TLS reports a certificate that is not trusted in this way.
            ureq::Error::Io(error) if error.kind() == ErrorKind::InvalidData => {
                Self::Garbled(Error::io("making an encrypted connection", text))
            }
            ureq::Error::Io(_) | ureq::Error::Timeout(_) => Self::Lost(text),
            _ => Self::Garbled(not_forklore(&text)),
        }
    }

    /// Returns the failure that an HTTP status means which no forklore store answers with.
    pub(crate) fn of_status(status: u16, location: &str) -> Self {
        match status {
            401 => Self::Refused(Error::Denied(format!(
                "{location} does not know you: set {TOKEN} to a token that the server accepts"
            ))),
            403 => Self::Refused(Error::Denied(format!(
                "{location} does not allow this: the token in {TOKEN} lacks the right"
            ))),
            404 | 405 => Self::Refused(not_forklore(&format!("it answers with status {status}"))),
            413 => Self::Refused(Error::Invalid(format!(
                "{location} refuses requests as long as this one; write less at once"
            ))),
            429 | 503 => Self::Busy(format!("it answers with status {status}")),
            300..=399 => Self::Refused(Error::Invalid(format!(
                "{location} redirects to another address, and redirects are not followed; use that \
                 address"
            ))),
            408 | 502 | 504 => {
                Self::Lost(format!("something before it answers with status {status}"))
            }
            _ => Self::Garbled(not_forklore(&format!("it answers with status {status}"))),
        }
    }

    /// Returns the error for the caller. `doing` is what the call does, and `location` the server.
    pub(crate) fn into_error(self, doing: &str, location: &str) -> Error {
        match self {
            Self::Store(error) | Self::Refused(error) => error,
            Self::Garbled(error) => named(error, location),
            Self::Busy(why) => Error::Locked(format!("{location} has too much to do: {why}")),
            Self::Unreached(why) => Error::io(
                format!("{doing} {location}"),
                format!("the server cannot be reached: {why}; start it, or look at the address"),
            ),
            Self::Lost(why) => Error::io(
                format!("{doing} {location}"),
                format!("the server did not answer: {why}; try again"),
            ),
        }
    }
}

/// Returns the error of an answer that no forklore server gives.
pub(crate) fn not_forklore(why: &str) -> Error {
    Error::Invalid(format!("this is no forklore server: {why}; look at the address"))
}

/// Adds the name of the server to an error that lacks it.
fn named(error: Error, location: &str) -> Error {
    match error {
        Error::Invalid(message) => Error::Invalid(format!("{location}: {message}")),
        Error::Io { doing, source } => {
            Error::Io { doing: format!("{doing} to {location}"), source }
        }
        error => error,
    }
}

/// Returns the message of an error without the name of its variant.
fn text(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::Timeout(_) => "it took too long".to_owned(),
        error => error.to_string(),
    }
}

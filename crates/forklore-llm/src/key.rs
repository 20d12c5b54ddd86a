//! API keys: read from the environment, sent in a header, redacted everywhere else.

mod redact;
mod stream_redactor;
mod variable;

use std::env;
use std::error::Error;
use std::fmt;

use reqwest::header::HeaderValue;

pub(crate) use stream_redactor::StreamRedactor;
pub use variable::{KeyVariable, NoVariable};

/// An API key. Its debug form is `[key]`.
#[derive(Clone)]
pub(crate) struct Key(String);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key]")
    }
}

/// The result of looking up an API key in the environment.
#[derive(Clone, Debug)]
pub(crate) enum KeyLookup {
    /// The API key.
    Key(Key),
    /// No variable is configured, so requests contain no key.
    None,
    /// The environment variable with this name is not set.
    NotSet(String),
    /// The value of the environment variable with this name is not a valid key.
    Invalid(String),
}

impl KeyLookup {
    /// Reads the key from the first of these environment variables that is set and not empty.
    pub(crate) fn of(variables: &[&str]) -> Self {
        for &name in variables {
            match env::var(name) {
                Ok(key) if key.trim().is_empty() => {}
                Ok(key) if HeaderValue::from_str(key.trim()).is_ok() => {
                    return Self::Key(Key(key.trim().to_owned()));
                }
                Ok(_) | Err(env::VarError::NotUnicode(_)) => return Self::Invalid(name.to_owned()),
                Err(env::VarError::NotPresent) => {}
            }
        }
        variables.first().map_or(Self::None, |&name| Self::NotSet(name.to_owned()))
    }

    /// Returns `text` with the key and all recognisable parts of the key redacted.
    pub(crate) fn redact(&self, text: &str) -> String {
        match self {
            Self::Key(Key(key)) => redact::redact(text, key),
            Self::None | Self::NotSet(_) | Self::Invalid(_) => text.to_owned(),
        }
    }

    /// Returns the source of an error unchanged, unless its text would show the key. In that case,
    /// returns the redacted text as an error.
    pub(crate) fn redact_source(&self, source: Box<SourceError>) -> Box<SourceError> {
        let mut shown = format!("{source:?}");
        let mut chain = Vec::new();
        let mut next: Option<&(dyn Error + 'static)> = Some(&*source);
        while let Some(error) = next {
            chain.push(error.to_string());
            next = error.source();
        }
        let chain = chain.join(": ");
        shown.push_str(&chain);
        if self.redact(&shown) == shown {
            return source;
        }
        Box::new(RedactedError(self.redact(&chain)))
    }

    /// Returns a redactor of the key for the event stream of a response.
    pub(crate) fn stream_redactor(&self) -> StreamRedactor {
        match self {
            Self::Key(Key(key)) if redact::is_secret(key) => StreamRedactor::new(key.clone()),
            _ => StreamRedactor::default(),
        }
    }
}

/// The type of an error's source.
pub(crate) type SourceError = dyn Error + Send + Sync;

/// An error with the redacted text of another error, whose own text would show a key.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct RedactedError(String);

impl Key {
    /// Returns the header value `{before}{key}`, which is marked as sensitive so that logs omit it.
    /// Returns `None` if a header cannot contain this value.
    pub(crate) fn header(&self, before: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{before}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_shown() {
        let lookup = KeyLookup::Key(Key("sk-1234".into()));
        assert_eq!(format!("{lookup:?}"), "Key([key])");
        let KeyLookup::Key(key) = &lookup else { panic!("{lookup:?}") };
        assert_eq!(format!("{:?}", key.header("Bearer ").unwrap()), "Sensitive");
        assert_eq!(lookup.redact("bad key: sk-1234!"), "bad key: [key]!");
    }

    #[test]
    fn a_variable_that_is_not_set_is_named() {
        let lookup = KeyLookup::of(&["FORKLORE_NO_SUCH_KEY", "FORKLORE_NONE_EITHER"]);
        assert!(matches!(lookup, KeyLookup::NotSet(name) if name == "FORKLORE_NO_SUCH_KEY"));
        assert!(matches!(KeyLookup::of(&[]), KeyLookup::None));
    }
}

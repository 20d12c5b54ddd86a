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

/// The result of looking up a key.
#[derive(Clone, Debug)]
pub(crate) enum KeyLookup {
    /// The key.
    Key(Key),
    /// The model needs no key.
    None,
    /// The variable of this name is not set.
    NotSet(String),
    /// The value of the variable of this name is not a valid key.
    Invalid(String),
}

impl KeyLookup {
    /// Reads the first of these variables that is set and not empty.
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

    /// Returns `text` with the key and recognisable parts of it redacted.
    pub(crate) fn redact(&self, text: &str) -> String {
        match self {
            Self::Key(Key(key)) => redact::redact(text, key),
            Self::None | Self::NotSet(_) | Self::Invalid(_) => text.to_owned(),
        }
    }

    /// Returns the source of an error: unchanged, or as redacted text if it would show the key.
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

    /// Returns a redactor for the stream of a response.
    pub(crate) fn stream_redactor(&self) -> StreamRedactor {
        match self {
            Self::Key(Key(key)) if redact::is_secret(key) => StreamRedactor::new(key.clone()),
            _ => StreamRedactor::default(),
        }
    }
}

/// The source of an error.
pub(crate) type SourceError = dyn Error + Send + Sync;

/// The redacted text of an error that would have shown a key.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct RedactedError(String);

impl Key {
    /// Returns a header value that is marked as sensitive.
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

//! A key: read from the environment, sent in a header, and shown nowhere.

mod hide;
mod variable;
mod veil;

use std::env;
use std::error::Error;
use std::fmt;

use reqwest::header::HeaderValue;

pub use variable::{KeyVariable, NoVariable};
pub(crate) use veil::Veil;

/// A key. It has no text form: what shows it shows `[key]`.
#[derive(Clone)]
pub(crate) struct Key(String);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key]")
    }
}

/// What came of looking for a key.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// It is there.
    Key(Key),
    /// None is asked for.
    None,
    /// It should be in a variable that is not set; its name.
    NotSet(String),
    /// What is in the variable cannot be a key; its name.
    NoKey(String),
}

impl Found {
    /// The key in the first of these variables that is set.
    pub(crate) fn of(variables: &[&str]) -> Self {
        for &name in variables {
            match env::var(name) {
                Ok(key) if key.trim().is_empty() => {}
                Ok(key) if HeaderValue::from_str(key.trim()).is_ok() => {
                    return Self::Key(Key(key.trim().to_owned()));
                }
                Ok(_) | Err(env::VarError::NotUnicode(_)) => return Self::NoKey(name.to_owned()),
                Err(env::VarError::NotPresent) => {}
            }
        }
        variables.first().map_or(Self::None, |&name| Self::NotSet(name.to_owned()))
    }

    /// `text` without the key and without parts of it, should somebody have put them there.
    pub(crate) fn hide_in(&self, text: &str) -> String {
        match self {
            Self::Key(Key(key)) => hide::hidden(text, key),
            Self::None | Self::NotSet(_) | Self::NoKey(_) => text.to_owned(),
        }
    }

    /// What lies behind a failure: as it is, or in words where it would show the key.
    pub(crate) fn hide_behind(&self, source: Box<Behind>) -> Box<Behind> {
        let mut told = format!("{source:?}");
        let mut words = Vec::new();
        let mut next: Option<&(dyn Error + 'static)> = Some(&*source);
        while let Some(error) = next {
            words.push(error.to_string());
            next = error.source();
        }
        let words = words.join(": ");
        told.push_str(&words);
        if self.hide_in(&told) == told {
            return source;
        }
        Box::new(InWords(self.hide_in(&words)))
    }

    /// What takes the key out of an answer.
    pub(crate) fn veil(&self) -> Veil {
        match self {
            Self::Key(Key(key)) if hide::is_secret(key) => Veil::over(key.clone()),
            _ => Veil::default(),
        }
    }
}

/// What lies behind a failure.
pub(crate) type Behind = dyn Error + Send + Sync;

/// What an error said that would have shown a key.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct InWords(String);

impl Key {
    /// The value of a header; none of the ways to show headers shows it.
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
        let found = Found::Key(Key("sk-1234".into()));
        assert_eq!(format!("{found:?}"), "Key([key])");
        let Found::Key(key) = &found else { panic!("{found:?}") };
        assert_eq!(format!("{:?}", key.header("Bearer ").unwrap()), "Sensitive");
        assert_eq!(found.hide_in("bad key: sk-1234!"), "bad key: [key]!");
    }

    #[test]
    fn a_variable_that_is_not_set_is_named() {
        let found = Found::of(&["FORKLORE_NO_SUCH_KEY", "FORKLORE_NONE_EITHER"]);
        assert!(matches!(found, Found::NotSet(name) if name == "FORKLORE_NO_SUCH_KEY"));
        assert!(matches!(Found::of(&[]), Found::None));
    }
}

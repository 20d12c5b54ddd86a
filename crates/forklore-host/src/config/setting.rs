//! A setting on the command line, which overrides the configuration file for one run.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use toml::{Table, Value};

use super::error::without_values;

/// A setting that overrides the configuration file, such as `models.local.model=qwen3`.
///
/// The key is a dotted key of TOML. The value is a TOML value, but a string needs no quotes if it
/// is not a TOML value of another type.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    key: Vec<String>,
    value: Value,
    /// The setting as the user typed it.
    typed: String,
}

/// Why a text is no [`Setting`]. The message repeats no value, because a value may be a misplaced
/// API key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSetting {
    /// The text has no key before a `=`.
    #[error("a setting is KEY=VALUE, with dots between the parts of the key")]
    NoKey,
    /// The value begins like a TOML value but is not a valid one.
    #[error("the value of {key} is no TOML: {wrong}")]
    Value {
        /// The key of the setting.
        key: String,
        /// What is wrong with the value.
        wrong: String,
    },
}

impl FromStr for Setting {
    type Err = InvalidSetting;

    fn from_str(text: &str) -> Result<Self, InvalidSetting> {
        let typed = text.to_owned();
        // A quoted part of the key may contain a `=`.
        let assigned = text.match_indices('=').find_map(|(at, _)| {
            let (key, value) = (text.get(..at)?, text.get(at + 1..)?);
            Some((parts(key)?, value.trim()))
        });
        let (key, text) = assigned.ok_or(InvalidSetting::NoKey)?;
        let value = match text.parse::<Value>() {
            Ok(value) => value,
            Err(error) if text.is_empty() || text.starts_with(['"', '\'', '[', '{']) => {
                let wrong = without_values(error.message());
                return Err(InvalidSetting::Value { key: shown(&key), wrong });
            }
            Err(_) => Value::String(text.to_owned()),
        };
        Ok(Self { key, value, typed })
    }
}

impl Setting {
    /// Puts the value into a configuration. Replaces the value that the configuration has for the
    /// key.
    ///
    /// # Errors
    /// Returns a message if the configuration has a value that is not a table where the key
    /// requires a table.
    pub(super) fn put(&self, config: &mut Table) -> Result<(), String> {
        let Some((last, above)) = self.key.split_last() else { return Ok(()) };
        let mut table = config;
        for (at, part) in above.iter().enumerate() {
            let there = table.entry(part).or_insert_with(|| Value::Table(Table::new()));
            let not_a_table =
                || format!("{} is no table", shown(self.key.get(..=at).unwrap_or(&[])));
            table = there.as_table_mut().ok_or_else(not_a_table)?;
        }
        table.insert(last.clone(), self.value.clone());
        Ok(())
    }

    /// Returns the setting as the user typed it, so that another command can repeat it. Returns
    /// `None` if the value may be secret.
    #[must_use]
    pub fn repeated(&self) -> Option<&str> {
        is_public(&self.key, &self.value).then_some(self.typed.as_str())
    }

    /// Returns the setting as the user typed it. It may have a secret: show it nowhere.
    #[must_use]
    pub fn typed(&self) -> &str {
        &self.typed
    }

    /// Checks whether an error at `path` may come from this setting. That is so if `path` begins
    /// with the key of the setting, or the key begins with `path`.
    pub(super) fn concerns(&self, path: &[String]) -> bool {
        path.iter().zip(&self.key).all(|(one, other)| one == other)
    }
}

impl Display for Setting {
    /// Writes the key, without the value.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.key))
    }
}

/// Checks whether the value of a key is certainly not secret. The arguments of a tool server, for
/// example, may contain a password, and so may an address.
fn is_public(key: &[String], value: &Value) -> bool {
    let key_of = |inner: &String| key.iter().chain([inner]).cloned().collect::<Vec<_>>();
    let text = match value {
        Value::Table(table) => {
            return table.iter().all(|(inner, value)| is_public(&key_of(inner), value));
        }
        Value::Array(values) => return values.iter().all(|value| is_public(key, value)),
        Value::String(text) => text,
        _ => return true,
    };
    match &key.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["default_model" | "system"] | ["policy", _] | ["models", _, "provider" | "model"] => true,
        ["models", _, "base_url"] => !text.contains(['@', '?', '#']),
        // A text that names an existing variable is no misplaced key.
        ["models", _, "key_env"] => std::env::var_os(text).is_some(),
        _ => false,
    }
}

/// Returns the parts of a dotted key, or `None` if `text` is not a dotted key.
fn parts(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    if text.starts_with('[') || text.contains(['\n', '\r']) {
        return None;
    }
    let mut table: Table = format!("{text} = 0").parse().ok()?;
    let mut parts = Vec::new();
    loop {
        let (part, value) = table.into_iter().next()?;
        parts.push(part);
        match value {
            Value::Table(inner) => table = inner,
            _ => return Some(parts),
        }
    }
}

/// Returns a key as it is written in TOML.
pub(super) fn shown(key: &[String]) -> String {
    let is_bare = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
    };
    let part = |part: &String| if is_bare(part) { part.clone() } else { format!("{part:?}") };
    key.iter().map(part).collect::<Vec<_>>().join(".")
}

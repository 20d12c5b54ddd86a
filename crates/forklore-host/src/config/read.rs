//! Reads and parses the configuration file. Unknown fields are errors.

use std::io;
use std::path::Path;

use super::trust::Trust;
use super::{Config, ConfigError};
use crate::text_file;

/// Checks that only the user can change the file, and returns its text. Returns `None` if the file
/// does not exist.
pub(super) fn text(path: &Path, trust: &Trust) -> Result<Option<String>, ConfigError> {
    match path.metadata() {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ConfigError::io(path, error)),
    }
    trust.check(path)?;
    text_file::read(path).map(Some).map_err(|unread| ConfigError::unread(path, unread))
}

/// Parses the text of the configuration file. Errors name the file as `path`.
pub(super) fn config(path: &Path, text: &str) -> Result<Config, ConfigError> {
    let config: Config = toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| line_of(text, span.start));
        ConfigError { line, ..ConfigError::new(path, without_values(error.message())) }
    })?;
    if let Some(name) = &config.default_model
        && !config.models.contains_key(name)
    {
        let line = text.lines().position(|line| line.trim_start().starts_with("default_model"));
        let wrong = format!("there is no [models.{name}], which is to be the default_model");
        return Err(ConfigError { line: line.map(|at| at + 1), ..ConfigError::new(path, wrong) });
    }
    Ok(config)
}

/// Returns the number of the line, from 1, that contains a byte offset.
fn line_of(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|byte| *byte == b'\n').count() + 1
}

/// Returns the first line of the parser's message, without the values from the file that the
/// message repeats.
fn without_values(message: &str) -> String {
    let message = message.lines().next().unwrap_or_default();
    let (before, after) = match message.strip_prefix("unknown field ") {
        // A field name is not secret, and the user needs it to find the error.
        Some(_) => (message.to_owned(), ""),
        None => match (message.split_once('"'), message.rsplit_once('"')) {
            (Some((before, _)), Some((_, after))) => (format!("{before}..."), after),
            _ => (message.to_owned(), ""),
        },
    };
    let hint = if message.contains("`api_key`") || message.contains("`key`") {
        "; a key never stands in the file: name its variable with key_env"
    } else {
        ""
    };
    format!("{before}{after}{hint}")
}

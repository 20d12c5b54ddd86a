//! Reads and parses the configuration file. Unknown fields are errors.

use std::io;
use std::path::Path;

use serde_path_to_error::Segment;
use toml::Table;

use super::error::without_values;
use super::lines::line_of;
use super::trust::Trust;
use super::{Config, ConfigError, Setting};
use crate::text_file::{self, Unread};

/// Checks that only the user can change the file, and returns its text. Returns `None` if the file
/// does not exist.
pub(super) fn text(path: &Path, trust: &Trust) -> Result<Option<String>, ConfigError> {
    match path.metadata() {
        Ok(found) if !found.is_file() => return Err(ConfigError::unread(path, Unread::NoFile)),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ConfigError::io(path, error)),
    }
    trust.check(path)?;
    text_file::read(path).map(Some).map_err(|unread| ConfigError::unread(path, unread))
}

/// Parses the text of the configuration file, and puts the settings into it. Errors name the file
/// as `path`, or the key of a setting.
pub(super) fn config(path: &Path, text: &str, settings: &[Setting]) -> Result<Config, ConfigError> {
    let config = match settings {
        [] => toml::from_str(text).map_err(|error| in_file(path, text, &error))?,
        settings => overridden(path, text, settings)?,
    };
    if let Some(name) = &config.default_model
        && !config.models.contains_key(name)
    {
        let wrong = format!("there is no [models.{name}], which is to be the default_model");
        let keys = [vec!["default_model".to_owned()], vec!["models".to_owned(), name.clone()]];
        let setting = keys.iter().find_map(|key| cause(settings, key));
        let line = text.lines().position(|line| line.trim_start().starts_with("default_model"));
        let error = ConfigError::new(path, wrong);
        return Err(match setting {
            Some(setting) => error.of_setting(setting.to_string()),
            None => ConfigError { line: line.map(|at| at + 1), ..error },
        });
    }
    Ok(config)
}

fn overridden(path: &Path, text: &str, settings: &[Setting]) -> Result<Config, ConfigError> {
    let parsed = text.parse::<Table>();
    let mut table = parsed.map_err(|error| in_file(path, text, &error))?;
    for setting in settings {
        setting
            .put(&mut table)
            .map_err(|wrong| ConfigError::new(path, wrong).of_setting(setting.to_string()))?;
    }
    serde_path_to_error::deserialize(table).map_err(|error| {
        let wrong = without_values(error.inner().message());
        // The file may have this error even without the settings. Then the error has a line.
        if let Err(own) = toml::from_str::<Config>(text)
            && without_values(own.message()) == wrong
        {
            return in_file(path, text, &own);
        }
        let at = error.path().iter().filter_map(|segment| match segment {
            Segment::Map { key } => Some(key.clone()),
            _ => None,
        });
        let found = ConfigError::new(path, wrong);
        match cause(settings, &at.collect::<Vec<_>>()) {
            Some(setting) => found.of_setting(setting.to_string()),
            None => found,
        }
    })
}

/// Returns the last setting that may be the cause of an error at `path`, or `None` if there is
/// none.
fn cause<'s>(settings: &'s [Setting], path: &[String]) -> Option<&'s Setting> {
    settings.iter().rev().find(|setting| setting.concerns(path))
}

fn in_file(path: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let line = error.span().map(|span| line_of(text, span.start));
    ConfigError { line, ..ConfigError::new(path, without_values(error.message())) }
}

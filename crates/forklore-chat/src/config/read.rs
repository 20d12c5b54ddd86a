//! Reading the file, strictly.

use std::io;
use std::path::Path;

use super::{Config, ConfigError};

/// The text of the file, if there is one.
pub(super) fn text(path: &Path) -> Result<Option<String>, ConfigError> {
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ConfigError::io(path, error)),
    };
    // It names programs that are started.
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o022 != 0 {
        let wrong = "others may write to it; take that from them with chmod go-w".to_owned();
        return Err(ConfigError::new(path, wrong));
    }
    if !metadata.is_file() {
        return Err(ConfigError::new(path, "it is no file".to_owned()));
    }
    std::fs::read_to_string(path).map(Some).map_err(|error| ConfigError::io(path, error))
}

/// What the text says.
pub(super) fn config(path: &Path, text: &str) -> Result<Config, ConfigError> {
    let config: Config = toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| line_of(text, span.start));
        ConfigError { line, ..ConfigError::new(path, told(error.message())) }
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

/// The number of the line in which a byte stands.
fn line_of(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|byte| *byte == b'\n').count() + 1
}

/// What the parser says, without the values that it repeats.
fn told(message: &str) -> String {
    let message = message.lines().next().unwrap_or_default();
    let (before, after) = match message.strip_prefix("unknown field ") {
        // The name of a field is no secret, and is what has to be found.
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

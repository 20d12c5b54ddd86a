//! Errors of the configuration.

use std::io;
use std::path::{Path, PathBuf};

use forklore_core::ErrorKind;

use crate::text_file::Unread;

/// An example configuration for users who have not configured a model.
const EXAMPLE: &str = r#"
    default_model = "local"

    [models.local]            # a server on this machine: llama.cpp, vLLM, LM Studio
    provider = "openai"       # the form it speaks
    base_url = "http://127.0.0.1:8080/v1"
    model = "default"

    [models.claude]           # the key is read from ANTHROPIC_API_KEY
    provider = "anthropic"
    model = "claude-sonnet-4-5"
"#;

/// An error of the configuration. The error repeats no value of the file, because a value may be a
/// misplaced API key.
#[derive(Debug, thiserror::Error)]
#[error("{}: {wrong}", location_of(path, *line, setting.as_deref()))]
pub struct ConfigError {
    /// The configuration file.
    pub path: PathBuf,
    /// The line of the error, from 1. `None` if the error concerns no single line.
    pub line: Option<usize>,
    /// The key of the setting on the command line that is the cause. `None` if the cause is in the
    /// file.
    pub setting: Option<String>,
    /// Describes what is wrong, and how to correct it.
    pub wrong: String,
    /// The error kind, which determines the exit code (docs/semantics.md, Errors).
    pub kind: ErrorKind,
    /// The error of the operating system, if it is the cause.
    #[source]
    pub source: Option<io::Error>,
    /// Whether no model is configured.
    pub no_model: bool,
}

/// Returns where an error is: the setting, or the file and the line.
fn location_of(path: &Path, line: Option<usize>, setting: Option<&str>) -> String {
    match (setting, line) {
        (Some(key), _) => format!("the setting {key}"),
        (None, Some(line)) => format!("{}, line {line}", path.display()),
        (None, None) => path.display().to_string(),
    }
}

impl ConfigError {
    /// Returns this error, with a setting on the command line as its cause. `key` is the setting's
    /// key.
    pub(super) fn of_setting(self, key: String) -> Self {
        Self { setting: Some(key), ..self }
    }

    pub(crate) fn new(path: &Path, wrong: String) -> Self {
        let (path, kind) = (path.to_owned(), ErrorKind::InvalidArgs);
        Self { path, line: None, setting: None, wrong, kind, source: None, no_model: false }
    }

    /// Returns the error for a file that another user could change.
    pub(super) fn denied(path: &Path, wrong: String) -> Self {
        Self { kind: ErrorKind::PermissionDenied, ..Self::new(path, wrong) }
    }

    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        let wrong = source.to_string();
        let kind = match source.kind() {
            io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
            _ => ErrorKind::Internal,
        };
        Self { kind, source: Some(source), ..Self::new(path, wrong) }
    }

    pub(super) fn unread(path: &Path, unread: Unread) -> Self {
        match unread {
            Unread::Io(source) => Self::io(path, source),
            unread => Self::new(path, unread.to_string()),
        }
    }

    pub(super) fn no_model(path: &Path) -> Self {
        let wrong = format!("no model is configured. Write lines like these into it:\n{EXAMPLE}");
        Self { no_model: true, ..Self::new(path, wrong) }
    }

    /// Returns the example configuration with which the message ends, if the error is that no model
    /// is configured. Returns `None` for any other error.
    #[must_use]
    pub fn example(&self) -> Option<&'static str> {
        self.no_model.then_some(EXAMPLE)
    }
}

/// Returns the first line of the parser's message, without the values from the file that the
/// message repeats.
pub(super) fn without_values(message: &str) -> String {
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

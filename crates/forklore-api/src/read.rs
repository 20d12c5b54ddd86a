//! Parses requests and answers from JSON.

use serde::de::DeserializeOwned;

/// The error for JSON that does not match the expected type. It contains the location of the
/// invalid value.
#[derive(Debug, thiserror::Error)]
#[error("{}{source}", at(path, *line))]
pub struct Malformed {
    path: String,
    line: Option<usize>,
    source: serde_json::Error,
}

impl Malformed {
    /// Returns the path of the invalid value, for example `batch.events[1].type`. The path `.`
    /// means the whole text.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the number of the invalid line, as the caller passed it to [`read_line`]. `None` for
    /// an error of [`read`].
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

fn at(path: &str, line: Option<usize>) -> String {
    let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
    if path == "." { line } else { format!("{line}{path}: ") }
}

/// Parses one value, such as a request or an answer, from JSON text.
///
/// # Errors
/// If the text is not JSON or does not match the type. The error names the path of the invalid
/// value.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Malformed> {
    // If the text ends too early, the reported path is `?`.
    let failed = |path: String, source| {
        let path = if path == "?" { ".".to_owned() } else { path };
        Malformed { path, line: None, source }
    };
    let mut json = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut json)
        .map_err(|error| failed(error.path().to_string(), error.into_inner()))?;
    json.end().map_err(|source| failed(".".to_owned(), source))?;
    Ok(value)
}

/// Parses one value from the text of one line. `line` is the number of this line in its file, from
/// 1, and appears in errors.
///
/// # Errors
/// The errors of [`read`]. The error also contains the line number.
pub fn read_line<T: DeserializeOwned>(line: usize, text: &str) -> Result<T, Malformed> {
    read(text).map_err(|error| Malformed { line: Some(line), ..error })
}

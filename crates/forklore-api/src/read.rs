//! Reading requests and answers from JSON.

use serde::de::DeserializeOwned;

/// JSON that is not what was expected, and where in it.
#[derive(Debug, thiserror::Error)]
#[error("{}{source}", at(path, *line))]
pub struct Malformed {
    path: String,
    line: Option<usize>,
    source: serde_json::Error,
}

impl Malformed {
    /// The path of the value that is wrong, like `batch.events[1].type`; `.` is the whole text.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The line that is wrong, from 1, where many were read.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

fn at(path: &str, line: Option<usize>) -> String {
    let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
    if path == "." { line } else { format!("{line}{path}: ") }
}

/// Reads one value of the contract from JSON text.
///
/// # Errors
/// When the text is no JSON, or not such a value; the error names the path of what is wrong.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Malformed> {
    // Where the text ends too early nothing has a path.
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

/// Reads one line of many, numbered from 1.
///
/// # Errors
/// As of [`read`]; the error names the line too.
pub fn read_line<T: DeserializeOwned>(line: usize, text: &str) -> Result<T, Malformed> {
    read(text).map_err(|error| Malformed { line: Some(line), ..error })
}

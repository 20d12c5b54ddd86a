//! Reads and writes the file with anchors, and reads the key that signs them.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use forklore::api::Anchor;
use forklore::core::ErrorKind;
use forklore::engine::AnchorKey;

use crate::failure::{Failure, Result};

/// The environment variable with the key, if no file is named.
const VARIABLE: &str = "FORKLORE_ANCHOR_KEY";

/// Where the key that signs anchors comes from.
#[derive(Debug, clap::Args)]
pub(crate) struct Key {
    /// A file with the secret key that signs anchors [default: the variable FORKLORE_ANCHOR_KEY]
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

impl Key {
    /// Checks whether a file is named.
    pub(crate) fn is_named(&self) -> bool {
        self.key.is_some()
    }

    /// Returns the key: the bytes of the file without its final line break, otherwise the value of
    /// the variable. `None` if there is neither.
    ///
    /// # Errors
    /// If the file cannot be read, or if the key is empty.
    pub(crate) fn read(&self) -> Result<Option<AnchorKey>> {
        let secret = match (&self.key, env::var_os(VARIABLE)) {
            (Some(path), _) => fs::read(path).map_err(|source| failed("reading", path, source))?,
            (None, Some(secret)) => secret.into_encoded_bytes(),
            (None, None) => return Ok(None),
        };
        let secret = secret.strip_suffix(b"\n").unwrap_or(&secret);
        let key = AnchorKey::new(secret.strip_suffix(b"\r").unwrap_or(secret));
        let empty = || Failure::invalid("the key is empty").or_try("openssl rand -hex 32 > FILE");
        key.map(Some).ok_or_else(empty)
    }
}

/// Appends the anchors as lines, and returns when they are durable.
pub(super) fn append(path: &Path, anchors: &[Anchor]) -> Result<()> {
    let mut lines = String::new();
    for anchor in anchors {
        let line = serde_json::to_string(anchor);
        lines += &line.map_err(|error| Failure::invalid(error.to_string()))?;
        lines.push('\n');
    }
    let mut write = || -> io::Result<()> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        // An interrupted write left a line without its end.
        if file.metadata()?.len() > 0 {
            file.seek(SeekFrom::End(-1))?;
            let mut last = [0];
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                lines.insert(0, '\n');
            }
        }
        file.write_all(lines.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|source| failed("writing", path, source))
}

/// Reads the anchors of a file. Empty lines count, so that the numbers of lines are right.
///
/// # Errors
/// If the file cannot be read, or if a line is not an anchor.
pub(crate) fn read(path: &Path) -> Result<Vec<Anchor>> {
    let text = fs::read(path).map_err(|source| failed("reading", path, source))?;
    let mut anchors = Vec::new();
    for (line, number) in text.split(|byte| *byte == b'\n').zip(1_u64..) {
        if line.is_empty() {
            continue;
        }
        anchors.push(serde_json::from_slice(line).map_err(|error| {
            let message = format!("line {number} of {} is no anchor: {error}", path.display());
            Failure::refused(ErrorKind::Corrupt, message).or_try("forklore anchor --all --to FILE")
        })?);
    }
    if anchors.is_empty() {
        return Err(Failure::invalid(format!("{} has no anchors", path.display())));
    }
    Ok(anchors)
}

fn failed(doing: &str, path: &Path, source: io::Error) -> Failure {
    Failure::File { doing: format!("{doing} {}", path.display()), source }
}

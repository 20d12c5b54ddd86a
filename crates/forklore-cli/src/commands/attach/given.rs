//! Opens the content to attach: a file, or standard input.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use forklore::core::limits::ATTACHMENT_BYTES;

use crate::failure::{Failure, Result};

/// The content to attach. `name` is the file name, or `None` for standard input.
pub(super) struct Given {
    pub(super) bytes: Box<dyn Read>,
    pub(super) name: Option<String>,
}

impl Given {
    /// Opens a regular file, or standard input if the path is `-`. Refuses any other path, because
    /// opening a pipe could block forever. Also refuses a file with more than [`ATTACHMENT_BYTES`]
    /// bytes.
    pub(super) fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            if io::stdin().is_terminal() {
                let message =
                    "there is nothing on standard input: pipe something in, or name a file";
                return Err(Failure::invalid(message).or_try("forklore attach --help"));
            }
            return Ok(Self { bytes: Box::new(io::stdin().lock()), name: None });
        }
        let failed =
            |source| Failure::File { doing: format!("opening {}", path.display()), source };
        let found = std::fs::metadata(path).map_err(failed)?;
        if !found.is_file() {
            let what = if found.is_dir() { "a folder" } else { "no file" };
            let message = format!("{} is {what}; attach a file, or pipe into -", path.display());
            return Err(Failure::invalid(message));
        }
        if found.len() > ATTACHMENT_BYTES {
            let (is, most) = (found.len(), ATTACHMENT_BYTES);
            let file = path.display();
            let message = format!("{file} has {is} bytes; an attachment has at most {most} bytes");
            return Err(Failure::invalid(message));
        }
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(Self { bytes: Box::new(File::open(path).map_err(failed)?), name })
    }
}

//! Which folder's sessions a command is about (SPEC 14).

use std::path::{Path, PathBuf};

use forklore::core::workspace::Workspace;

use crate::failure::{Failure, Result};

/// The workspace of `folder`, or of the current directory.
///
/// A folder that is gone may still have sessions: its path is then taken as it stands.
///
/// # Errors
/// When the current directory is gone.
pub(crate) fn of(folder: Option<&Path>) -> Result<Workspace> {
    let path = match folder {
        Some(folder) => canonical(folder)?,
        None => canonical(Path::new("."))?,
    };
    Ok(Workspace::new(&path.to_string_lossy()))
}

fn canonical(folder: &Path) -> Result<PathBuf> {
    folder.canonicalize().or_else(|_| std::path::absolute(folder)).map_err(|source| Failure::File {
        doing: "finding the current directory; name one with --workspace".to_owned(),
        source,
    })
}

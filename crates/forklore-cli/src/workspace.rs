//! Determines the folder whose sessions a command uses (docs/semantics.md, Workspaces).

use std::path::{Path, PathBuf};

use forklore::core::workspace::Workspace;

use crate::failure::{Failure, Result};

/// Returns the workspace of `folder`. `None` means the current directory.
///
/// Resolves symbolic links in the path. A deleted folder may still have sessions, so its absolute
/// path is used without resolving links.
///
/// # Errors
/// When the current directory was deleted.
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

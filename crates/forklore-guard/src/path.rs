//! Containment: whether a path stays inside a folder, by where it really leads.

use std::io;
use std::path::{Path, PathBuf};

/// Why a path is not inside the folder it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// The folder or the path could not be resolved: missing, a loop of links, not readable.
    #[error("cannot resolve {}", path.display())]
    Unresolved {
        /// The path as it was given, joined to the folder if it was relative.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The path leads out of the folder, by `..`, by being absolute or through a link.
    #[error("{} leads out of {}", path.display(), root.display())]
    Outside {
        /// The path as it was given, joined to the folder if it was relative.
        path: PathBuf,
        /// The folder, resolved.
        root: PathBuf,
    },
}

/// Resolves `candidate`, taken relative to `root`, and returns it if it lies in `root`.
///
/// Both are resolved first, so no link, `..` or look-alike prefix (`/data` and `/data-old`) gets
/// past. The answer has no link left in it; open exactly that path, and refuse a link there
/// (`O_NOFOLLOW`), so that what was checked is what is opened.
///
/// # Errors
/// [`PathError::Unresolved`] if either does not exist or cannot be followed,
/// [`PathError::Outside`] if the candidate lies elsewhere.
pub fn contained(root: &Path, candidate: &Path) -> Result<PathBuf, PathError> {
    let root = resolve(root.to_path_buf())?;
    let path = root.join(candidate);
    let real = resolve(path.clone())?;
    if real.starts_with(&root) { Ok(real) } else { Err(PathError::Outside { path, root }) }
}

fn resolve(path: PathBuf) -> Result<PathBuf, PathError> {
    path.canonicalize().map_err(|source| PathError::Unresolved { path, source })
}

//! Containment: checks whether a path is inside a directory after all links are resolved.

use std::io;
use std::path::{Component, Path, PathBuf};

/// The reason why a path was refused.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// The directory or the path could not be resolved: it is missing, in a loop of links, or not
    /// readable.
    #[error("cannot resolve {}", path.display())]
    Unresolved {
        /// The requested path, joined to the directory if it was relative.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The path leads out of the directory, through `..`, as an absolute path, or through a link.
    #[error("{} leads out of {}", path.display(), root.display())]
    Outside {
        /// The requested path, joined to the directory if it was relative.
        path: PathBuf,
        /// The directory.
        root: PathBuf,
    },
}

/// Resolves `candidate`, relative to `root`, and returns the result if it is inside `root`.
///
/// Both are resolved first, so that no link, `..` or similar prefix (`/data` and `/data-old`)
/// passes. The result contains no links. Open exactly that path, and refuse a link there
/// (`O_NOFOLLOW`), so that the opened file is the one that was checked.
///
/// # Errors
/// [`PathError::Unresolved`] if either does not exist or cannot be resolved, [`PathError::Outside`]
/// if the candidate is outside `root`.
pub fn contained(root: &Path, candidate: &Path) -> Result<PathBuf, PathError> {
    let root = resolve(root.to_path_buf())?;
    let path = root.join(candidate);
    let real = resolve(path.clone())?;
    if real.starts_with(&root) { Ok(real) } else { Err(PathError::Outside { path, root }) }
}

/// Creates `root` and the parent directories of a file at `relative` below it, and returns the path
/// at which to create the file. Follows no link out of the root, and changes nothing that exists.
///
/// # Errors
/// [`PathError::Outside`] if the path is absolute, contains a component such as `..`, or leads out
/// through a link; [`PathError::Unresolved`] if a directory cannot be created.
pub fn file_below(root: &Path, relative: &Path) -> Result<PathBuf, PathError> {
    let outside = || PathError::Outside { path: root.join(relative), root: root.to_path_buf() };
    let plain = |part| matches!(part, Component::Normal(_));
    let (true, Some(name)) = (relative.components().all(plain), relative.file_name()) else {
        return Err(outside());
    };
    let make = |path: &Path| match std::fs::create_dir(path) {
        Err(source) if source.kind() != io::ErrorKind::AlreadyExists => {
            Err(PathError::Unresolved { path: path.to_path_buf(), source })
        }
        _ => Ok(()),
    };
    make(root)?;
    let root = resolve(root.to_path_buf())?;
    let mut folder = root.clone();
    for part in relative.parent().into_iter().flat_map(Path::components) {
        folder.push(part);
        make(&folder)?;
        folder = contained(&root, &folder)?;
    }
    Ok(folder.join(name))
}

fn resolve(path: PathBuf) -> Result<PathBuf, PathError> {
    path.canonicalize().map_err(|source| PathError::Unresolved { path, source })
}

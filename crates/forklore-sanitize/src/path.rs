//! Containment: whether a path stays inside a folder, by where it really leads.

use std::io;
use std::path::{Component, Path, PathBuf};

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

/// Makes the folders that a file at `relative` lies in, below `root`, which is made too, and returns
/// where to make the file: no link is followed out of the root, and nothing that is there is
/// touched.
///
/// # Errors
/// [`PathError::Outside`] if the path is absolute, has a part like `..`, or leads out through a
/// link; [`PathError::Unresolved`] if a folder cannot be made.
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

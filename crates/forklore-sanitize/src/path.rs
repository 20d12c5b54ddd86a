//! Checks that a path is inside a directory after all symbolic links are resolved.

use std::io;
use std::path::{Component, Path, PathBuf};

/// The reason why a path check refused a path.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// The root directory or the requested path cannot be resolved. It does not exist, is in a loop
    /// of symbolic links, is not readable, or is a directory that cannot be created.
    #[error("cannot resolve {}", path.display())]
    Unresolved {
        /// The requested path. A relative path is joined to the root directory.
        path: PathBuf,
        /// The error of the operating system that prevented the resolution.
        source: io::Error,
    },
    /// The requested path leads out of the root directory: through `..`, as an absolute path, or
    /// through a symbolic link.
    #[error("{} leads out of {}", path.display(), root.display())]
    Outside {
        /// The requested path. A relative path is joined to the root directory.
        path: PathBuf,
        /// The root directory that contains all allowed paths.
        root: PathBuf,
    },
}

/// Resolves `candidate`, relative to `root`, and returns the resolved path if it is inside `root`.
///
/// Resolves both paths first and then compares them component by component. Therefore no symbolic
/// link, no `..` and no similar name (`/data-old` for `/data`) passes as inside. The returned path
/// contains no symbolic links. Open exactly the returned path with `O_NOFOLLOW`, so that a link
/// created after the check is refused.
///
/// # Errors
/// [`PathError::Unresolved`] if `root` or `candidate` does not exist or cannot be resolved,
/// [`PathError::Outside`] if `candidate` is outside `root`.
pub fn contained(root: &Path, candidate: &Path) -> Result<PathBuf, PathError> {
    let root = resolve(root.to_path_buf())?;
    let path = root.join(candidate);
    let real = resolve(path.clone())?;
    if real.starts_with(&root) { Ok(real) } else { Err(PathError::Outside { path, root }) }
}

/// Creates `root`, whose parent must exist, and the directories between `root` and the file
/// `root/relative`. Returns the path at which the caller then creates the file. The function
/// follows no symbolic link out of `root`, and changes no existing file or directory.
///
/// # Errors
/// [`PathError::Outside`] if `relative` is empty or absolute, contains a component such as `..`, or
/// leads out of `root` through a symbolic link; [`PathError::Unresolved`] if a directory cannot be
/// created.
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

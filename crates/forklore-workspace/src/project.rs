//! Which folders have files that are recorded without being asked for.

use std::path::{Path, PathBuf};

/// Returns the path of a folder, without symbolic links. `None` if it does not exist, or contains the
/// home of the user: that is no project, and a snapshot of it would take too long.
#[must_use]
pub fn project_folder(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let too_wide = home.is_some_and(|home| home.starts_with(&folder));
    Some(folder).filter(|folder| folder.is_dir() && !too_wide)
}

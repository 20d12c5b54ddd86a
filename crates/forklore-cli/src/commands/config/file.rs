//! Replaces the configuration file in one step. The text that replaces it was checked before.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use forklore::core::ErrorKind;
use forklore_host::{Configured, Error};

use crate::failure::{Failure, Result};
use crate::{new_file, wiring};

/// Replaces the text of the configuration file by the one that `change` returns, or leaves the file
/// if `change` returns `None`. Creates the file if it does not exist. Returns its path.
///
/// # Errors
/// When the configuration is invalid, before or after the change, when somebody else changes it
/// meanwhile, or the error of `change`.
pub(crate) fn rewrite(change: impl FnOnce(&str) -> Result<Option<String>>) -> Result<PathBuf> {
    let named = wiring::path()?;
    Configured::read(&named).map_err(Error::from)?;
    let path = target(&named)?;
    let before = read(&path)?;
    let text = String::from_utf8_lossy(before.as_deref().unwrap_or_default()).into_owned();
    let Some(changed) = change(&text)? else { return Ok(named) };
    let copy = copy_of(&path, changed.as_bytes())?;
    let replaced = Configured::read(&copy)
        .map_err(|error| Error::from(error).into())
        .and_then(|_| replace(&path, &copy, before.as_deref()));
    if replaced.is_err() {
        let _ = fs::remove_file(&copy);
    }
    replaced.map(|()| named)
}

/// Returns the file to replace: the one that the path leads to, if it is a symbolic link.
pub(super) fn target(path: &Path) -> Result<PathBuf> {
    if path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
        let doing = format!("following the link {}", path.display());
        return path.canonicalize().map_err(|source| Failure::File { doing, source });
    }
    Ok(path.to_owned())
}

/// Returns the bytes of the file, which need not be text. `None` if there is no file.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    let failed = |source| Failure::File { doing: format!("reading {}", path.display()), source };
    match path.metadata() {
        Ok(found) if !found.is_file() => {
            let message = format!("{} is no regular file", path.display());
            Err(Failure::invalid(message).or_try("name a file in FORKLORE_CONFIG"))
        }
        Ok(_) => fs::read(path).map(Some).map_err(failed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// Creates the copy that the user edits. The copy is next to the file, so that a rename can put the
/// copy in the place of the file.
pub(super) fn copy_of(path: &Path, bytes: &[u8]) -> Result<PathBuf> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        forklore::create_private_folder(folder).map_err(new_file::failed(folder))?;
    }
    let copy = path.with_file_name(format!("config-edit-{}.toml", std::process::id()));
    new_file::create(&copy, |file| file.write_all(bytes).map_err(new_file::failed(&copy)))?;
    Ok(copy)
}

/// Puts the copy in the place of the file, unless somebody else changed the file meanwhile. Only
/// the owner can write to the new file.
pub(super) fn replace(path: &Path, copy: &Path, before: Option<&[u8]>) -> Result<()> {
    if read(path)?.as_deref() != before {
        let message = format!(
            "{} was changed meanwhile and stays so; your text is in {}",
            path.display(),
            copy.display()
        );
        return Err(Failure::refused(ErrorKind::Conflict, message));
    }
    let mode = path.metadata().map_or(0o600, |found| found.permissions().mode() & 0o755);
    let replaced = fs::set_permissions(copy, Permissions::from_mode(mode))
        .and_then(|()| File::open(copy)?.sync_all())
        .and_then(|()| fs::rename(copy, path));
    replaced.map_err(new_file::failed(path))
}

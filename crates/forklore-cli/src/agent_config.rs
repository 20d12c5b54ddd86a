//! Reads and writes the configuration files of other agents, into which forklore puts entries.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::new_file;

/// Returns the folder below the user's home, or the one that a variable names instead.
///
/// # Errors
/// When there is no home directory.
pub(crate) fn or_home(variable: &str, below: &str) -> Result<PathBuf> {
    if let Some(set) = std::env::var_os(variable).filter(|value| !value.is_empty()) {
        return Ok(PathBuf::from(set));
    }
    let home = etcetera::home_dir();
    Ok(home.map_err(|_| Failure::invalid("there is no home directory"))?.join(below))
}

/// Returns this program and the option that names the store, if the user named one.
///
/// # Errors
/// When the URL of the store has a password, which others would see in a file or in the arguments of
/// a program.
pub(crate) fn this_program(app: &App) -> Result<Vec<String>> {
    let program = std::env::current_exe()
        .map_err(|source| Failure::File { doing: "looking for this program".into(), source })?;
    let mut words = vec![program.to_string_lossy().into_owned()];
    if let Some(url) = app.globals().store.as_deref().filter(|url| !url.is_empty()) {
        if forklore::without_password(url) != url {
            let message = "the URL of the store has a password, which others could read there";
            return Err(Failure::invalid(message)
                .or_try("name the store without it, and the password in PGPASSWORD or ~/.pgpass"));
        }
        words.extend(["--store".to_owned(), from_anywhere(url)?]);
    }
    Ok(words)
}

/// Returns the URL of a store with a full path: the program may be started in another folder.
fn from_anywhere(url: &str) -> Result<String> {
    match url.split_once(':') {
        Some((kind @ ("sqlite" | "files" | "graph"), path)) => {
            let full = std::path::absolute(path).map_err(new_file::failed(Path::new(path)))?;
            Ok(format!("{kind}:{}", full.display()))
        }
        _ => Ok(url.to_owned()),
    }
}

/// Returns the text of a file, or `None` if it does not exist.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn read(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Failure::File { doing: format!("reading {}", path.display()), source }),
    }
}

/// Writes a file whole, or leaves it as it is.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        forklore::create_private_folder(folder).map_err(new_file::failed(folder))?;
    }
    new_file::write(path, true, |file| {
        file.write_all(text.as_bytes()).map_err(new_file::failed(path))
    })
}

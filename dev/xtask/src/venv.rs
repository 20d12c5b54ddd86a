//! Python environments with packages from PyPI.

use std::fs;
use std::path::PathBuf;

use crate::command::{Failure, program, run};
use crate::tools::target;

/// Returns the path of a Python that has the packages `wheels`, in the folder `name`. Installs them
/// unless the required versions are already installed.
pub(crate) fn installed(name: &str, wheels: &[&str]) -> Result<PathBuf, Failure> {
    let folder = target().join(name);
    let python = folder.join("bin").join("python");
    let wanted = wheels.join("\n");
    // This file is written last, so that an interrupted installation is repeated.
    let done = folder.join("installed.txt");
    if fs::read_to_string(&done).ok().as_deref() == Some(&wanted) {
        return Ok(python);
    }
    run(program("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    run(program(&python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(["--only-binary", ":all:"])
        .args(wheels))?;
    fs::write(&done, wanted).map_err(|source| Failure::Folder { path: done, source })?;
    Ok(python)
}

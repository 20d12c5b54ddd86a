//! The Python libraries with which benchmarks compare forklore. They are installed once into
//! `target/peers`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Failure, program, root, run};
use crate::tools::target;

/// Returns the path of a Python in which the libraries are installed that forklore is compared
/// with. Installs the versions that the benchmark requires, if necessary.
pub(crate) fn python() -> Result<PathBuf, Failure> {
    let wanted = requirements();
    let folder = target().join("peers");
    let python = match env::consts::FAMILY {
        "windows" => folder.join("Scripts").join("python.exe"),
        _ => folder.join("bin").join("python"),
    };
    // This file is written last, so that an interrupted installation is repeated.
    let installed = folder.join("requirements.txt");
    if fs::read(&wanted).ok() != fs::read(&installed).ok() {
        install(&wanted, &folder, &python)?;
        fs::copy(&wanted, &installed)
            .map_err(|source| Failure::Folder { path: installed, source })?;
    }
    Ok(python)
}

fn requirements() -> PathBuf {
    root().join("dev").join("bench").join("peers").join("requirements.txt")
}

fn install(wanted: &Path, folder: &Path, python: &Path) -> Result<(), Failure> {
    run(program("python3").args(["-m", "venv", "--clear"]).arg(folder))?;
    run(program(python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(["--only-binary", ":all:", "--requirement"])
        .arg(wanted))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_required_versions_are_in_the_repository() {
        let wanted = std::fs::read_to_string(super::requirements()).unwrap();
        assert!(
            wanted.lines().all(|line| line.contains("==") || line.starts_with('#')),
            "{wanted}"
        );
    }
}

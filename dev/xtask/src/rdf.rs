//! What reads graphs besides forklore: rdflib and pyshacl, in a Python of their own.

use std::fs;
use std::path::PathBuf;

use crate::command::{Failure, program, run};
use crate::tools::target;

const WHEELS: [&str; 2] = ["rdflib==7.6.0", "pyshacl==0.40.1"];

/// The variable by which tests find the Python.
pub(crate) const VARIABLE: &str = "FORKLORE_RDF_PYTHON";

/// A Python that has both, made unless it is there with these versions.
pub(crate) fn installed() -> Result<PathBuf, Failure> {
    let folder = target().join("rdf");
    let python = folder.join("bin").join("python");
    let wanted = WHEELS.join("\n");
    // Written last, so that a killed installation is begun anew.
    let done = folder.join("installed.txt");
    if fs::read_to_string(&done).ok().as_deref() == Some(&wanted) {
        return Ok(python);
    }
    run(program("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    run(program(&python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(["--only-binary", ":all:"])
        .args(WHEELS))?;
    fs::write(&done, wanted).map_err(|source| Failure::Folder { path: done, source })?;
    Ok(python)
}

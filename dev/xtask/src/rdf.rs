//! rdflib and pyshacl, which read RDF graphs independently of forklore. They are installed in a
//! separate Python environment.

use std::fs;
use std::path::PathBuf;

use crate::command::{Failure, program, run};
use crate::tools::target;

const WHEELS: [&str; 2] = ["rdflib==7.6.0", "pyshacl==0.40.1"];

/// The environment variable that gives tests the path of a Python with rdflib and pyshacl.
pub(crate) const VARIABLE: &str = "FORKLORE_RDF_PYTHON";

/// Returns the path of a Python that has the packages rdflib and pyshacl. Installs the packages
/// unless the required versions are already installed.
pub(crate) fn installed() -> Result<PathBuf, Failure> {
    let folder = target().join("rdf");
    let python = folder.join("bin").join("python");
    let wanted = WHEELS.join("\n");
    // This file is written last, so that an interrupted installation is repeated.
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

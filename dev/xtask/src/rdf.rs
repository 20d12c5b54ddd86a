//! rdflib and pyshacl, which read RDF graphs independently of forklore. They are installed in a
//! separate Python environment.

use std::path::PathBuf;

use crate::command::Failure;
use crate::venv;

const WHEELS: [&str; 2] = ["rdflib==7.6.0", "pyshacl==0.40.1"];

/// The environment variable that gives tests the path of a Python with rdflib and pyshacl.
pub(crate) const VARIABLE: &str = "FORKLORE_RDF_PYTHON";

/// Returns the path of a Python that has the packages rdflib and pyshacl.
pub(crate) fn installed() -> Result<PathBuf, Failure> {
    venv::installed("rdf", &WHEELS)
}

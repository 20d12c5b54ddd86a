//! agent-memory-integrity, a public suite that edits stores behind their backs, and the driver with
//! which its adapter edits a PostgreSQL database.

use std::path::PathBuf;

use crate::command::Failure;
use crate::venv;

const WHEELS: [&str; 2] = ["agent-memory-integrity==0.6.3", "psycopg[binary]==3.3.9"];

/// The environment variable that gives tests the path of a Python with the suite.
pub(crate) const VARIABLE: &str = "FORKLORE_AGMI_PYTHON";

/// Returns the path of a Python that has the suite.
pub(crate) fn installed() -> Result<PathBuf, Failure> {
    venv::installed("agmi", &WHEELS)
}

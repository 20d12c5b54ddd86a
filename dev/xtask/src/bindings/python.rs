//! The Python package: its environment, its types and its tests.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Failure, program, root, run};
use crate::tools::{filled, target};
use crate::{postgres, venv};

/// The frameworks for which the package has faces, and what tests and checks them.
const WHEELS: [&str; 12] = [
    "claude-agent-sdk==0.2.187",
    "langgraph==1.2.24",
    "langgraph-checkpoint==4.3.2",
    "langgraph-checkpoint-conformance==0.0.2",
    "langgraph-checkpoint-sqlite==3.1.2",
    "openai-agents==0.24.0",
    "strands-agents==1.62.0",
    "pytest==9.2.0",
    "pytest-asyncio==1.5.0",
    "pytest-xdist==3.8.0",
    "mypy==2.4.1",
    "pyright[nodejs]==1.1.414",
];

/// What the frameworks' own tests import, and what prepares their source packages.
const FOR_SOURCES: [&str; 13] = [
    "hatch-vcs==0.5.0",
    "hatchling==1.33.0",
    "langgraph-checkpoint-postgres==3.2.0",
    "moto==5.2.5",
    "psycopg-binary==3.3.9",
    "psycopg-pool==3.3.3",
    "pycryptodome==4.4.0",
    "pytest-mock==3.17.0",
    "pytest-repeat==0.9.4",
    "redis==8.1.0",
    "sqlalchemy==2.1.9",
    "syrupy==7.0.2",
    "trio==0.35.0",
];

/// Packages whose own tests run on the faces. Only their source packages have the tests.
const SOURCES: [&str; 4] = [
    "claude-agent-sdk==0.2.187",
    "langgraph==1.2.24",
    "openai-agents==0.24.0",
    "strands-agents==1.62.0",
];

/// The environment variable that gives the tests the folder with the unpacked source packages.
const VARIABLE: &str = "FORKLORE_PYTHON_SOURCES";

/// Returns the folder of the package.
pub(super) fn folder() -> PathBuf {
    root().join("bindings").join("python")
}

/// Checks the package's types and runs its tests. `args` go to pytest; with them, only the tests run.
pub(super) fn test(args: &[String]) -> Result<(), Failure> {
    let (python, sources) = installed()?;
    if args.is_empty() {
        run(program(&python).args(["-m", "mypy"]).current_dir(folder()))?;
        run(program(python.with_file_name("pyright"))
            .arg("--pythonpath")
            .arg(&python)
            .current_dir(folder()))?;
    }
    let mut tests = program(&python);
    postgres::offer(&mut tests)?;
    run(tests
        .args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"])
        .args(["--numprocesses", "auto", "--dist", "worksteal", "--durations", "20"])
        .args(args)
        .env("PYTHONPATH", folder())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("FORKLORE_PROGRAM", super::program_path())
        .env(VARIABLE, sources)
        .current_dir(folder()))
}

/// Returns a Python with all packages that the tests use, and the folder with the source packages.
/// Installs both unless they are there.
pub(super) fn installed() -> Result<(PathBuf, PathBuf), Failure> {
    let python = venv::installed("python", &[&WHEELS[..], &FOR_SOURCES].concat())?;
    let sources = sources(&python)?;
    Ok((python, sources))
}

/// Returns the folder with the unpacked source packages. Downloads them unless they are there.
fn sources(python: &Path) -> Result<PathBuf, Failure> {
    let folder = target().join("python-sources");
    filled(&folder, &SOURCES.join("\n"), || {
        run(program(python)
            .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"])
            .args(["--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--dest"])
            .arg(&folder)
            .args(SOURCES))?;
        let failed = |source| Failure::Folder { path: folder.clone(), source };
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let archive = entry.map_err(failed)?.path();
            run(program("tar").arg("xzf").arg(archive).arg("-C").arg(&folder))?;
        }
        Ok(())
    })?;
    Ok(folder)
}

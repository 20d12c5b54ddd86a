//! PostgreSQL, on which tests run the shared store: the installed one, or else Debian's.

use std::fs;
use std::process::Command;

use crate::command::Failure;
use crate::debian;

/// The environment variable that gives tests the directory of the programs initdb and postgres.
const VARIABLE: &str = "FORKLORE_POSTGRES";
/// Where Debian's packages put the programs, one directory for each version.
const INSTALLED: &str = "/usr/lib/postgresql";

/// Makes PostgreSQL available to the tests that `command` runs. Uses an installed one, or else
/// downloads and unpacks Debian's packages of it.
pub(crate) fn offer(command: &mut Command) -> Result<(), Failure> {
    let is_installed = fs::read_dir(INSTALLED).is_ok_and(|mut versions| versions.next().is_some());
    if std::env::var_os(VARIABLE).is_some() || is_installed {
        return Ok(());
    }
    let usr = debian::unpacked_with_needs("postgresql")?.join("usr");
    let versions = usr.join("lib").join("postgresql");
    let unreadable = |source| Failure::Folder { path: versions.clone(), source };
    let newest = fs::read_dir(&versions).map_err(unreadable)?.flatten().map(|one| one.path()).max();
    if let Some(version) = newest {
        command.env(VARIABLE, version.join("bin"));
    }
    Ok(())
}

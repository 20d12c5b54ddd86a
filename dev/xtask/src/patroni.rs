//! Patroni from PyPI and etcd from Debian, with which tests make the tier of docs/tier.md.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{Failure, program, run};
use crate::debian;
use crate::tools::target;

/// The environment variable that gives tests the directory of the programs patroni and patronictl.
const VARIABLE: &str = "FORKLORE_PATRONI";
/// What the page installs.
const WHEEL: &str = "patroni[etcd3,psycopg3]==4.1.5";
/// The packages that it needs and that are on PyPI as source only, without code to compile.
const SOURCES: &str = "python-etcd,ydiff";

/// The environment variable that gives tests the directory of the program etcd.
const ETCD: &str = "FORKLORE_ETCD";
/// Where Debian's package installs it.
const INSTALLED_ETCD: &str = "/usr/bin";

/// Makes Patroni and etcd available to the tests that `command` runs.
pub(crate) fn offer(command: &mut Command) -> Result<(), Failure> {
    if env::var_os(VARIABLE).is_none() {
        command.env(VARIABLE, installed()?);
    }
    if env::var_os(ETCD).is_none() {
        let etcd = if Path::new(INSTALLED_ETCD).join("etcd").is_file() {
            INSTALLED_ETCD.into()
        } else {
            debian::unpacked("etcd-server", &["etcd-server"])?.join("usr/bin")
        };
        command.env(ETCD, etcd);
    }
    Ok(())
}

/// Returns the directory of the programs of Patroni, in a Python environment of its own. Installs
/// them unless the required version is already installed.
fn installed() -> Result<PathBuf, Failure> {
    let folder = target().join("patroni");
    let programs = folder.join("bin");
    // This file is written last, so that an interrupted installation is repeated.
    let done = folder.join("installed.txt");
    if fs::read_to_string(&done).ok().as_deref() == Some(WHEEL) {
        return Ok(programs);
    }
    run(program("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    run(program(programs.join("python"))
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(["--only-binary", ":all:", "--no-binary", SOURCES, WHEEL]))?;
    fs::write(&done, WHEEL).map_err(|source| Failure::Folder { path: done, source })?;
    Ok(programs)
}

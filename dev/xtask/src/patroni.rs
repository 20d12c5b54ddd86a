//! Patroni from PyPI and etcd from Debian, with which tests make the tier of docs/tier.md.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::command::Failure;
use crate::{debian, venv};

/// The environment variable that gives tests the directory of the programs patroni and patronictl.
const VARIABLE: &str = "FORKLORE_PATRONI";
/// What the page installs. The two packages that are on PyPI as source only have no code to compile.
const PACKAGES: [&str; 2] = ["--no-binary=python-etcd,ydiff", "patroni[etcd3,psycopg3]==4.1.5"];

/// The environment variable that gives tests the directory of the program etcd.
const ETCD: &str = "FORKLORE_ETCD";
/// Where Debian's package installs it.
const INSTALLED_ETCD: &str = "/usr/bin";

/// Makes Patroni and etcd available to the tests that `command` runs.
pub(crate) fn offer(command: &mut Command) -> Result<(), Failure> {
    if env::var_os(VARIABLE).is_none() {
        let python = venv::installed("patroni", &PACKAGES)?;
        command.env(VARIABLE, python.with_file_name(""));
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

//! `cargo xtask test`: runs all tests.

use std::env;

use crate::command::{Failure, cargo, run};
use crate::tools::NEXTEST;
use crate::{agmi, browser, patroni, postgres, rdf, servers, smollm, tmux};

/// The cargo arguments that select every crate with all features. Tests, lints and documentation
/// share this selection, so that each can reuse the build of the others.
pub(crate) const EVERYTHING: [&str; 2] = ["--all-features", "--workspace"];

/// Runs all tests: the test functions and the examples in the documentation. If there are
/// arguments, runs only the test functions that they select, and no examples. The arguments go to
/// nextest.
pub(crate) fn run_all(args: &[String]) -> Result<(), Failure> {
    nextest(args)?;
    if args.is_empty() { examples() } else { Ok(()) }
}

/// Runs the test functions with nextest. `args` are passed to nextest.
pub(crate) fn nextest(args: &[String]) -> Result<(), Failure> {
    let one_crate = args.iter().any(|arg| arg.starts_with("-p") || arg.starts_with("--package"));
    let scope = if one_crate { &EVERYTHING[..1] } else { &EVERYTHING };
    let mut command = NEXTEST.command()?;
    if env::var_os(smollm::VARIABLE).is_none() {
        command.env(smollm::VARIABLE, smollm::installed()?);
    }
    if env::var_os(servers::VARIABLE).is_none() {
        command.env(servers::VARIABLE, servers::installed()?);
    }
    if env::var_os(rdf::VARIABLE).is_none() {
        command.env(rdf::VARIABLE, rdf::installed()?);
    }
    if env::var_os(agmi::VARIABLE).is_none() {
        command.env(agmi::VARIABLE, agmi::installed()?);
    }
    tmux::offer(&mut command)?;
    browser::offer(&mut command, args)?;
    postgres::offer(&mut command)?;
    patroni::offer(&mut command)?;
    run(command.arg("run").args(scope).args(args))
}

/// Runs the examples in the documentation with `cargo test`, because nextest does not support them.
pub(crate) fn examples() -> Result<(), Failure> {
    run(cargo().args(["test", "--doc"]).args(EVERYTHING))
}

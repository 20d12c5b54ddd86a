//! `cargo xtask test`: runs all tests.

use std::env;
use std::panic;
use std::process::Command;
use std::thread;

use crate::command::{EVERYTHING, Failure, cargo, program, run};
use crate::tools::NEXTEST;
use crate::{agmi, bindings, browser, elixir, patroni, postgres, rdf, servers, smollm, tmux};

/// The environment variables with the seeds of random tests. Every run tries the same cases, so that a
/// change alone decides whether it passes. `cargo xtask soak` tries others.
const SEEDS: [&str; 2] = ["FORKLORE_SEED", "PROPTEST_RNG_SEED"];

/// Runs all tests: the test functions and the examples in the documentation. If there are
/// arguments, runs only the test functions that they select, and no examples. The arguments go to
/// nextest.
pub(crate) fn run_all(args: &[String]) -> Result<(), Failure> {
    if !args.is_empty() {
        return nextest(args);
    }
    build(|| Ok(()))?;
    nextest(&[])?;
    bindings::run_all(&[])?;
    examples()
}

/// Builds the tests, and meanwhile installs what they use, because a download waits for the network
/// and the compiler for the processor. Then also calls `install`.
pub(crate) fn build(install: impl FnOnce() -> Result<(), Failure> + Send) -> Result<(), Failure> {
    let mut compiler = NEXTEST.command()?;
    thread::scope(|scope| {
        let installed = scope.spawn(|| {
            offer(&mut program("nothing"), &[])?;
            bindings::install()?;
            install()
        });
        let built = run(compiler.args(["run", "--no-run"]).args(EVERYTHING));
        let installed = installed.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
        built.and(installed)
    })
}

/// Runs the test functions with nextest. `args` are passed to nextest.
pub(crate) fn nextest(args: &[String]) -> Result<(), Failure> {
    let one_crate = args.iter().any(|arg| arg.starts_with("-p") || arg.starts_with("--package"));
    let scope = if one_crate { &EVERYTHING[..1] } else { &EVERYTHING };
    let mut command = NEXTEST.command()?;
    offer(&mut command, args)?;
    // Tests also wait for the disk and for other processes, so one more runs than there are processors.
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let defaults = [("NEXTEST_TEST_THREADS", processors + 1)];
    let defaults = defaults.into_iter().chain(SEEDS.map(|variable| (variable, 1)));
    for (variable, value) in defaults.filter(|(variable, _)| env::var_os(variable).is_none()) {
        command.env(variable, value.to_string());
    }
    run(command.arg("run").args(scope).args(args))
}

/// Makes other programs available to the tests that `command` runs with the arguments `args`.
/// Installs them unless they are there.
fn offer(command: &mut Command, args: &[String]) -> Result<(), Failure> {
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
    tmux::offer(command)?;
    elixir::offer(command)?;
    browser::offer(command, args)?;
    postgres::offer(command)?;
    patroni::offer(command)
}

/// Runs the examples in the documentation with `cargo test`, because nextest does not support them.
pub(crate) fn examples() -> Result<(), Failure> {
    run(cargo().args(["test", "--doc"]).args(EVERYTHING))
}

//! `cargo xtask ci`: the checks that every change must pass.

use std::time::Instant;

use crate::agents;
use crate::api;
use crate::bindings;
use crate::command::{EVERYTHING, Failure, cargo, run};
use crate::cost;
use crate::test;
use crate::tools::{DENY, HACK, SHEAR};

type Check = fn() -> Result<(), Failure>;

const USAGE: &str = "cargo xtask ci [CHECK...]";

const CHECKS: [(&str, Check); 13] = [
    ("format", format),
    ("build", build),
    ("test", || test::nextest(&[])),
    ("bindings", || bindings::run_all(&[])),
    ("examples", test::examples),
    ("agents", agents),
    ("lint", lint),
    ("documentation", documentation),
    ("api", || api::run_all(&[])),
    ("features", features),
    ("cost", || cost::run_all(&[])),
    ("unused", unused),
    ("dependencies", dependencies),
];

/// Runs the checks that `args` names, or all of them, even after one failed. At the end, prints the
/// last lines of each failed check once more, because many other lines followed them, and one line
/// per check.
pub(crate) fn run_all(args: &[String]) -> Result<(), Failure> {
    if args.iter().any(|arg| CHECKS.iter().all(|(name, _)| arg != name)) {
        let names = CHECKS.map(|(name, _)| name).join(", ");
        eprintln!("The checks are {names}.");
        return Err(Failure::Usage { hint: USAGE });
    }
    let mut failed = Vec::new();
    let mut summary = String::new();
    let is_wanted = |name| args.is_empty() || args.iter().any(|arg| arg == name);
    for (name, check) in CHECKS.into_iter().filter(|(name, _)| is_wanted(*name)) {
        let start = Instant::now();
        let result = check();
        let seconds = start.elapsed().as_secs();
        let verdict = if result.is_ok() { "ok" } else { "FAILED" };
        summary.push_str(&format!("{name:>14}  {verdict:<6} {seconds:>5} s\n"));
        if let Err(failure) = result {
            eprintln!("xtask: {failure}");
            failed.push((name, failure));
        }
    }
    for (name, failure) in &failed {
        if let Failure::Ended { last_lines, .. } = failure {
            eprintln!("\n{name} failed. Its output ended with:\n{last_lines}");
        }
    }
    eprintln!("\n{summary}");
    let failed: Vec<_> = failed.into_iter().map(|(name, _)| name).collect();
    if failed.is_empty() { Ok(()) } else { Err(Failure::Checks { failed }) }
}

fn format() -> Result<(), Failure> {
    run(cargo().args(["fmt", "--all", "--check"]))
}

/// Builds the tests and installs what all checks use.
fn build() -> Result<(), Failure> {
    test::build(|| if agents::RUN_HERE { agents::installed().map(drop) } else { Ok(()) })
}

/// Tests whether the agents can continue forks. On systems where the agents do not run, succeeds
/// without a test.
fn agents() -> Result<(), Failure> {
    if agents::RUN_HERE { agents::run_all(&["--quick".to_owned()]) } else { Ok(()) }
}

fn lint() -> Result<(), Failure> {
    run(cargo().args(["clippy", "--all-targets"]).args(EVERYTHING).args(["--", "-D", "warnings"]))
}

fn documentation() -> Result<(), Failure> {
    run(cargo().args(["doc", "--no-deps"]).args(EVERYTHING).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Checks that the crate `forklore`, which other programs embed, compiles alone: without features, with
/// the default features, and with each single feature. A build of the whole workspace would hide
/// that a crate lacks a feature of a dependency, because other crates enable that feature. `cargo
/// xtask soak` checks all published crates.
fn features() -> Result<(), Failure> {
    run(HACK.command()?.args(["check", "--each-feature", "--package", "forklore"]))
}

/// Fails if a crate has a dependency that no code uses.
fn unused() -> Result<(), Failure> {
    run(&mut SHEAR.command()?)
}

/// Checks licences, sources and bans of dependencies. Advisories are left out: their database is
/// not always reachable, and the result of a check must not depend on the day.
fn dependencies() -> Result<(), Failure> {
    run(DENY.command()?.args([
        "--all-features",
        "check",
        "--hide-inclusion-graph",
        "bans",
        "licenses",
        "sources",
    ]))
}

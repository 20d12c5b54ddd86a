//! `cargo xtask ci`: the checks that every change must pass.

use std::time::Instant;

use crate::agents;
use crate::api;
use crate::command::{Failure, cargo, run};
use crate::cost;
use crate::test::{self, EVERYTHING};
use crate::tools::{DENY, HACK, SHEAR};

type Check = fn() -> Result<(), Failure>;

const CHECKS: [(&str, Check); 11] = [
    ("format", format),
    ("test", || test::nextest(&[])),
    ("examples", test::examples),
    ("agents", agents),
    ("lint", lint),
    ("documentation", documentation),
    ("public API", || api::run_all(&[])),
    ("features", features),
    ("cost", || cost::run_all(&[])),
    ("unused", unused),
    ("dependencies", dependencies),
];

/// Runs every check of `cargo xtask ci`, even after one failed. At the end, prints one line per
/// check.
pub(crate) fn run_all() -> Result<(), Failure> {
    let mut failed = Vec::new();
    let mut summary = String::new();
    for (name, check) in CHECKS {
        let start = Instant::now();
        let result = check();
        let seconds = start.elapsed().as_secs();
        let verdict = if result.is_ok() { "ok" } else { "FAILED" };
        summary.push_str(&format!("{name:>14}  {verdict:<6} {seconds:>5} s\n"));
        if let Err(failure) = result {
            eprintln!("xtask: {failure}");
            failed.push(name);
        }
    }
    eprintln!("\n{summary}");
    if failed.is_empty() { Ok(()) } else { Err(Failure::Checks { failed }) }
}

fn format() -> Result<(), Failure> {
    run(cargo().args(["fmt", "--all", "--check"]))
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

/// Checks that each published crate compiles alone: without features, with the default features,
/// and with each single feature. A build of the whole workspace would hide that a crate lacks a
/// feature of a dependency, because other crates enable that feature.
fn features() -> Result<(), Failure> {
    run(HACK.command()?.args(["check", "--workspace", "--each-feature", "--ignore-private"]))
}

/// Fails if a crate has a dependency that no code uses.
fn unused() -> Result<(), Failure> {
    run(&mut SHEAR.command()?)
}

/// Checks licences, sources and bans of dependencies. Advisories are left out: their database is
/// not always reachable, and the result of a check must not depend on the day.
fn dependencies() -> Result<(), Failure> {
    run(DENY.command()?.args(["--all-features", "check", "bans", "licenses", "sources"]))
}

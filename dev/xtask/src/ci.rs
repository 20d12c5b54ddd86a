//! `cargo xtask ci`: what a change has to pass.

use std::time::Instant;

use crate::agents;
use crate::command::{Failure, cargo, run};
use crate::cost;
use crate::test::{self, EVERYTHING};
use crate::tools::{DENY, HACK, SHEAR};

type Check = fn() -> Result<(), Failure>;

const CHECKS: [(&str, Check); 10] = [
    ("format", format),
    ("test", || test::nextest(&[])),
    ("examples", test::examples),
    ("agents", agents),
    ("lint", lint),
    ("documentation", documentation),
    ("features", features),
    ("cost", || cost::run_all(&[])),
    ("unused", unused),
    ("dependencies", dependencies),
];

/// Runs every check, also behind one that failed, and ends with a line for each.
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

/// Where the agents do not run there is nothing to try.
fn agents() -> Result<(), Failure> {
    if agents::RUN_HERE { agents::run_all(&["--quick".to_owned()]) } else { Ok(()) }
}

fn lint() -> Result<(), Failure> {
    run(cargo().args(["clippy", "--all-targets"]).args(EVERYTHING).args(["--", "-D", "warnings"]))
}

fn documentation() -> Result<(), Failure> {
    run(cargo().args(["doc", "--no-deps"]).args(EVERYTHING).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Each crate that is published compiles alone, with none, the default and all of its features:
/// a build of the whole workspace lends a crate the features that its neighbours ask for.
fn features() -> Result<(), Failure> {
    run(HACK.command()?.args(["check", "--workspace", "--each-feature", "--ignore-private"]))
}

/// Dependencies that no code uses.
fn unused() -> Result<(), Failure> {
    run(&mut SHEAR.command()?)
}

/// Advisories are left out: their database is not always within reach, and a check that depends
/// on the day is none.
fn dependencies() -> Result<(), Failure> {
    run(DENY.command()?.args(["--all-features", "check", "bans", "licenses", "sources"]))
}

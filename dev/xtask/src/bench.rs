//! `cargo xtask bench`: measures the speed that forklore promises.

use std::env;

use crate::command::{Failure, cargo, program, root, run};
use crate::tools::target;
use crate::{peers, postgres};

/// Builds the benchmarks with the cargo profile `dist` and runs them. Without arguments, writes the
/// results into `docs/benchmarks.md`.
pub(crate) fn run_all(args: &[String]) -> Result<(), Failure> {
    let crates = ["-p", "forklore-bench", "-p", "forklore-cli"];
    run(cargo().args(["build", "--profile", "dist"]).args(crates))?;
    let name = format!("forklore-bench{}", env::consts::EXE_SUFFIX);
    let mut bench = program(target().join("dist").join(name));
    if includes(args, "peers") || includes(args, "tier") {
        bench.arg("--peers").arg(peers::python()?);
    }
    if includes(args, "tier") || includes(args, "server") {
        postgres::offer_installed(&mut bench)?;
    }
    if args.is_empty() {
        bench.arg("--write").arg(root().join("docs").join("benchmarks.md"));
    }
    run(bench.args(args))
}

/// Checks whether the benchmark run includes a measurement. It does if it is a complete run, or if
/// the arguments name the measurement.
fn includes(args: &[String], measurement: &str) -> bool {
    let only = |arg: &String| arg.starts_with("--only");
    let named = |arg: &String| arg.ends_with(measurement);
    !args.iter().any(only) || args.iter().any(named)
}

//! `cargo xtask bench`: measures the speed that forklore promises.

use std::env;

use crate::command::{Failure, cargo, program, root, run};
use crate::peers;
use crate::tools::target;

/// Builds the benchmarks with the cargo profile `dist` and runs them. Without arguments, writes the
/// results into `docs/benchmarks.md`.
pub(crate) fn run_all(args: &[String]) -> Result<(), Failure> {
    let crates = ["-p", "forklore-bench", "-p", "forklore-cli"];
    run(cargo().args(["build", "--profile", "dist"]).args(crates))?;
    let name = format!("forklore-bench{}", env::consts::EXE_SUFFIX);
    let mut bench = program(target().join("dist").join(name));
    if needs_peers(args) {
        bench.arg("--peers").arg(peers::python()?);
    }
    if args.is_empty() {
        bench.arg("--write").arg(root().join("docs").join("benchmarks.md"));
    }
    run(bench.args(args))
}

/// Checks whether the benchmark run includes the peers (the libraries that forklore is compared
/// with). It does if it is a complete run, or if the arguments name the peers.
fn needs_peers(args: &[String]) -> bool {
    let (only, named) =
        (|arg: &String| arg.starts_with("--only"), |arg: &String| arg.ends_with("peers"));
    !args.iter().any(only) || args.iter().any(named)
}

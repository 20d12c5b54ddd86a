//! The command line of `cargo xtask bench`.

use std::fs;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::error::{Doing, Result};
use crate::measure::Measurement;
use crate::measure::writer::Writer;
use crate::scene::{Scene, Sizes};

/// Measures the speed that forklore promises and shows the figures as Markdown.
///
/// Without options everything is measured, which takes some 15 minutes and 8 GB of disk for a while.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench", version)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    /// Small sizes: shows that everything runs; the figures mean nothing
    #[arg(long)]
    pub(crate) quick: bool,
    /// The folder to work in, on a real disk: in memory a sync costs nothing
    #[arg(long, default_value = "target/bench", value_name = "DIR")]
    dir: PathBuf,
    /// Only this measurement; may be repeated
    #[arg(long, value_enum, value_name = "MEASUREMENT")]
    only: Vec<Measurement>,
    /// The Python in which the peers are installed
    #[arg(long, value_name = "PYTHON")]
    peers: Option<PathBuf>,
    /// The file whose figures are replaced, between its two marks, and whose pictures, which lie in
    /// a folder beside it
    #[arg(long, value_name = "FILE")]
    pub(crate) write: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) task: Option<Task>,
}

/// What the program does when it starts itself.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// One of several processes that write at once
    #[command(hide = true)]
    Writer(Writer),
}

impl Options {
    /// Creates the working directory of the benchmark run, and the environment of the run. The
    /// options select whether the run uses the full or the quick sizes of test data.
    pub(crate) fn scene(&self) -> Result<Scene> {
        fs::create_dir_all(&self.dir).doing("cannot make", &self.dir)?;
        let sizes = if self.quick { Sizes::QUICK } else { Sizes::FULL };
        Ok(Scene::below(&self.dir, sizes)?.with_peers(self.peers.clone()))
    }

    /// Returns the measurements to run: those that the options select, or all of them in the order
    /// in which `docs/benchmarks.md` shows the results.
    pub(crate) fn measurements(&self) -> Vec<Measurement> {
        if self.only.is_empty() { Measurement::ALL.to_vec() } else { self.only.clone() }
    }

    /// Returns the directory for the charts. If the options name a file for the results, the
    /// directory is next to that file. Otherwise it is a directory that the next run overwrites.
    pub(crate) fn pictures(&self) -> PathBuf {
        let page = self.write.as_ref().map(|page| page.with_extension(""));
        page.unwrap_or_else(|| self.dir.join("pictures"))
    }

    /// Returns the command line that repeats the measurements of this run. Options that name paths
    /// are left out.
    pub(crate) fn command(&self) -> String {
        let mut words = vec!["cargo xtask bench".to_owned()];
        words.extend(self.quick.then(|| "--quick".to_owned()));
        words.extend(self.only.iter().map(|only| format!("--only {only}")));
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn arguments_are_consistent() {
        <Options as CommandFactory>::command().debug_assert();
    }

    #[test]
    fn the_command_is_the_one_typed() {
        let typed = ["x", "--quick", "--only", "import", "--only", "start", "--dir", "d"];
        let options = Options::parse_from(typed);
        assert_eq!(options.command(), "cargo xtask bench --quick --only import --only start");
        assert_eq!(options.measurements(), [Measurement::Import, Measurement::Start]);
        assert_eq!(Options::parse_from(["x"]).measurements(), Measurement::ALL);
    }
}

//! Measures in one run all that forklore promises about speed, and writes the figures as Markdown.
//!
//! Most promises are ratios of two operations, which are measured in turns: other load on the
//! machine affects both operations. `docs/benchmarks.md` contains the figures and explains their
//! origin.

mod chart;
mod corpus;
mod error;
mod figure;
mod findings;
mod machine;
mod mapped;
mod measure;
mod numbers;
mod options;
mod output;
mod page;
mod peer;
mod postgres;
mod process;
mod prose;
mod raw;
mod samples;
mod scene;
mod thousands;
mod transcript;

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;

use error::Result;
use options::{Options, Task};

/// The memory allocator of this program, which is the same as in the program `forklore`.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let options = Options::parse();
    let result = match &options.task {
        Some(Task::Writer(writer)) => measure::writer::write(writer),
        None => run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::failure(&error),
    }
}

/// Runs all requested measurements and prints the results. Also writes the charts, and the results
/// into the Markdown file that the options name, if any.
fn run(options: &Options) -> Result<()> {
    let scene = options.scene()?;
    let before = machine::Machine::now(scene.dir());
    let mut found = Vec::new();
    for measurement in options.measurements() {
        output::progress(measurement.title());
        found.push((measurement, measurement.take(&scene)?));
    }
    let text = page::figures(&found, &before, options);
    output::page(&text);
    page::draw(&found, &options.pictures())?;
    match &options.write {
        Some(file) => page::save(file, &text),
        None => Ok(()),
    }
}

//! `install`: adds forklore to the configuration of other programs.

mod agent;
mod json_entry;
mod mcp;
mod toml_entry;

use clap::Subcommand;

use crate::app::App;
use crate::failure::Result;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  forklore install mcp claude --print       show the entry and the file
  forklore install mcp claude               add it, after asking
  forklore install mcp codex --allow fork --yes";

/// Add forklore to the configuration of an agent
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

/// What is added.
#[derive(Debug, Subcommand)]
enum What {
    Mcp(mcp::Args),
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let What::Mcp(args) = &args.what;
    mcp::run(args, app, output)
}

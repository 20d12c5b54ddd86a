//! `worktrees`: lists and removes the folders that were made for forks.

mod list;
mod remove;

use clap::Subcommand;

use crate::app::App;
use crate::failure::Result;
use crate::output::Output;

const EXAMPLES: &str = "\
forklore fork --worktree gives a fork a folder of its own. Before one is removed, its files are \
recorded in the fork: make the folder again, and forklore rewind FORK --at end --files fills it.

Examples:
  forklore worktrees list
  forklore worktrees remove @plan-b
  forklore worktrees remove ../project.worktrees/plan-b";

/// List and remove the folders that were made for forks
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Worktrees,
}

/// A command about the folders of forks.
#[derive(Debug, Subcommand)]
enum Worktrees {
    List(list::Args),
    Remove(remove::Args),
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    match &args.command {
        Worktrees::List(args) => list::run(args, app, output),
        Worktrees::Remove(args) => remove::run(args, app, output),
    }
}

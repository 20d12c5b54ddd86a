//! `op`: lists, shows and undoes what was done to sessions.

mod log;
mod show;
mod undo;
mod words;

use clap::Subcommand;

use crate::app::App;
use crate::failure::Result;
use crate::output::Output;

const EXAMPLES: &str = "\
What is recorded: delete, undelete, detach, label, rename, import, /rewind, and undo itself.

Examples:
  forklore op log
  forklore op undo                           the latest one
  forklore op show 12
  forklore op undo 12 --dry-run";

/// See and undo what was done to sessions
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Op,
}

/// A command about operations.
#[derive(Debug, Subcommand)]
enum Op {
    Log(log::Args),
    Show(show::Args),
    Undo(undo::Args),
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    match &args.command {
        Op::Log(args) => log::run(args, app, output),
        Op::Show(args) => show::run(args, app, output),
        Op::Undo(args) => undo::run(args, app, output),
    }
}

/// Suggests to undo what a command just did, if the store has recorded it.
pub(super) fn suggest_undo(does: &str, app: &App, output: &mut Output) -> Result<()> {
    if app.engine()?.store().capabilities().operations {
        output.hint("forklore op undo", does);
    }
    Ok(())
}

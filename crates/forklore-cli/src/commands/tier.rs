//! `tier`: prepares a PostgreSQL database that a team shares as its store.

mod init;

use clap::Subcommand;

use crate::app::App;
use crate::failure::Result;
use crate::output::Output;

const EXAMPLES: &str = "\
The first command that creates a session also creates the tables, so a database needs no preparation. \
This command is for what has to be decided before, and for logins that must see one store only.

Examples:
  forklore tier init                          in the database that --store or FORKLORE_STORE names";

/// Prepare a PostgreSQL database that a team shares
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Tier,
}

/// A command about a shared database.
#[derive(Debug, Subcommand)]
enum Tier {
    Init(init::Args),
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    match &args.command {
        Tier::Init(args) => init::run(args, app, output),
    }
}

//! `tier`: prepares and observes a PostgreSQL database that a team shares as its store.

mod init;
mod status;

use clap::Subcommand;
use forklore::StoreUrl;
use forklore::postgres::Address;

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::Output;

const EXAMPLES: &str = "\
The first command that creates a session also creates the tables, so a database needs no preparation. \
`tier init` is for what has to be decided before, and for logins that must see one store only.

Examples:
  forklore tier init                          in the database that --store or FORKLORE_STORE names
  forklore tier status                        the server, its replicas, sizes and slow statements";

/// Prepare and observe a PostgreSQL database that a team shares
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
    Status(status::Args),
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    match &args.command {
        Tier::Init(args) => init::run(args, app, output),
        Tier::Status(status::Args {}) => status::run(app, output),
    }
}

/// Returns the address of the store, which must be in a PostgreSQL database. `command` is the one
/// that needs it.
fn address(app: &App, command: &str) -> Result<Address> {
    match app.store_url()? {
        StoreUrl::Postgres(address) => Ok(*address),
        url => Err(Failure::invalid(format!(
            "{} is no PostgreSQL database, and `{command}` is only for those",
            url.location()
        ))
        .or_try(format!("forklore --store postgres://USER@HOST/DATABASE {command}"))),
    }
}

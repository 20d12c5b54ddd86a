//! `clone`: copies everything from another store.

use forklore::engine::Transfer;

use super::other_store::OtherStore;
use super::transfer;
use crate::app::App;
use crate::failure::Result;
use crate::output::Output;

const EXAMPLES: &str = "\
Copies every session of the other store, with its files and attachments. Sessions that are here \
stay; what was interrupted is completed by the same command.

Examples:
  forklore clone postgres://ann@db.example/team
  forklore clone files:/mnt/usb/sessions
  forklore --store files:copy clone sqlite:sessions.db   into a store of its own";

/// Copy everything from another store
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The other store: a URL, the path of an SQLite file, or a remote
    remote: String,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let other = OtherStore::named(&args.remote, app)?;
    other.is_not(&app.store_url()?)?;
    let from = other.existing()?;
    let request = Transfer { session_id: None, name: other.name(), dry_run: false };
    let done = transfer::copy(&from, app.engine_or_new()?, &request, output)?;
    transfer::answer(&done, output)
}

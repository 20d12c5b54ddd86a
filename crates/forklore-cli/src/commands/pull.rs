//! `pull`: copies families of sessions from another store.

use forklore::core::ErrorKind;
use forklore::engine::{Scope, Transfer};
use forklore_sanitize::shell::quoted;

use super::other_store::Named;
use super::transfer;
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::Output;

const EXAMPLES: &str = "\
A session is pulled with its whole family, and only what this store lacks is written. Nothing is \
overwritten here: where both stores went on differently, what was written there becomes a branch.

Examples:
  forklore pull                                      every family of the only remote
  forklore pull files:/mnt/usb/sessions
  forklore pull @plan-b sqlite:/mnt/usb/sessions.db  the family of one session
  forklore pull team --dry-run";

/// Copy sessions from another store
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A session of the other store [default: all sessions]; a single argument that can be a store is the store
    session: Option<String>,
    /// The other store: a URL, the path of an SQLite file, or a remote [default: the only remote]
    remote: Option<String>,
    /// Show what would be copied, and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let Named { session, other } =
        Named::read(args.session.as_deref(), args.remote.as_deref(), app)?;
    let from = other.existing()?;
    let everywhere = Scope { workspace: None };
    let session = session.map(|session| from.resolve(&session, &everywhere)).transpose();
    let session = session.map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            let missing = format!("{error} in {}", other.shown());
            let list = format!("forklore --store {} list --all", quoted(&other.shown()));
            Failure::refused(ErrorKind::NotFound, missing).or_try(list)
        }
        _ => error.into(),
    })?;
    let request = Transfer {
        session_id: session.map(|header| header.id),
        name: other.name(),
        dry_run: args.dry_run,
    };
    let into = if args.dry_run { app.engine_or_empty()? } else { app.engine_or_new()? };
    let done = transfer::copy(&from, into, &request, output)?;
    transfer::answer(&done, output)
}

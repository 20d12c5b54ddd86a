//! `push`: copies families of sessions into another store.

use forklore::engine::Transfer;

use super::other_store::Named;
use super::transfer;
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
A session is pushed with its whole family, and only what the other store lacks is written. Nothing \
is overwritten there: where both stores went on differently, what was written here becomes a branch.

Examples:
  forklore push                                      the last session, to the only remote
  forklore push files:/mnt/usb/sessions
  forklore push @plan-b sqlite:/mnt/usb/sessions.db
  forklore push --all team                           every family
  forklore push --all team --dry-run";

/// Copy sessions into another store
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A session [default: last]; a single argument that can be a store is the store
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
    let session_id = match (session, app.globals().all) {
        (Some(_), true) => {
            return Err(Failure::invalid("name a session, or give --all, but not both"));
        }
        (None, true) => None,
        (session, false) => {
            let session = SessionRef::parse(session.as_deref().unwrap_or("last"))?;
            Some(app.stored(&session, output)?.id)
        }
    };
    let from = app.engine()?;
    let into = if args.dry_run { other.or_empty()? } else { other.or_new()? };
    let request = Transfer { session_id, name: transfer::host(), dry_run: args.dry_run };
    let done = transfer::copy(from, &into, &request, output)?;
    transfer::answer(&done, output)
}

//! `detach`: copies the prefix that a branch inherits, so that the branch no longer needs its
//! ancestors.

use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, Tone, count};
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
Examples:
  forklore detach @plan-b       its ancestors may then be deleted";

/// Copy what a branch inherits, so that it no longer needs its ancestors
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, or last
    session: String,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let header = app.stored(&SessionRef::parse(&args.session)?, output)?;
    let detached = app.engine()?.detach(&header.id)?;
    output.answer(&detached, |page| {
        page.put(Tone::Good, "Detached ").put(Tone::Label, &header.label);
        page.put(Tone::Plain, "  ").put(Tone::Id, &header.id);
        page.put(Tone::Plain, format!("  {} copied", count(detached.copied_events, "event"))).end();
    })
}

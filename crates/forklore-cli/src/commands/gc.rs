//! `gc`: the space of what was deleted is given back.

use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, Tone, bytes, count};

const EXAMPLES: &str = "\
Afterwards no file of the store contains deleted bytes.

Examples:
  forklore delete @plan-b && forklore gc";

/// Give back the space of what was deleted
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

pub(super) fn run(_args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let freed = app.engine()?.gc()?;
    output.answer(&freed, |page| {
        page.put(Tone::Good, "Freed ").put(Tone::Plain, bytes(freed.freed_bytes));
        let what =
            format!("{}, {}", count(freed.segments, "segment"), count(freed.events, "event"));
        page.put(Tone::Dim, format!("  {what}")).end();
    })
}

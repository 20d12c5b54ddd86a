//! `gc`: erases deleted data from the store's files and frees its space.

use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, Tone, bytes, count};

const EXAMPLES: &str = "\
Afterwards no file of the store contains deleted bytes, and no attachment is kept that no \
message names.

Examples:
  forklore delete @plan-b && forklore gc";

/// Erase deleted data and free its space
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

pub(super) fn run(_args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let freed = app.engine()?.gc()?;
    output.answer(&freed, |page| {
        page.put(Tone::Good, "Freed ").put(Tone::Plain, bytes(freed.freed_bytes));
        let mut what =
            format!("{}, {}", count(freed.segments, "segment"), count(freed.events, "event"));
        if freed.attachments > 0 {
            what = format!("{what}, {}", count(freed.attachments, "attachment"));
        }
        page.put(Tone::Dim, format!("  {what}")).end();
    })
}

//! `pack`: compresses families that were not updated for some days, and joins histories that are
//! stored in many spans.

use std::time::Duration;

use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, Tone, bytes, count};

const EXAMPLES: &str = "\
Families of sessions that nobody went on with are compressed to about a third. They read the same,
a little slower, and can be gone on with at any time. Histories that are made of very many small
pieces, as chains of hundreds of forks are, are joined, so that they load like short ones.

Examples:
  forklore pack
  forklore pack --idle-days 7
  forklore pack --idle-days 0";

/// Compress sessions that are seldom used
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Compress families in which no session was updated for this many days
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    idle_days: u32,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let idle = Duration::from_secs(24 * 60 * 60 * u64::from(args.idle_days));
    let packed = app.engine()?.pack(idle)?;
    output.answer(&packed, |page| {
        page.put(Tone::Good, "Freed ").put(Tone::Plain, bytes(packed.freed_bytes));
        let what = format!(
            "{} compressed, {} joined",
            count(packed.events, "event"),
            count(packed.histories, "chain")
        );
        page.put(Tone::Dim, format!("  {what}")).end();
    })
}

//! `inspect`: what the model would receive.

use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, Tone, count, transcript};
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
Compactions are applied, open calls answered, reasoning of other models left out.

Examples:
  forklore inspect last
  forklore inspect last --json | jq '{balanced, synthetic_results, excluded}'";

/// Show exactly what the model would receive
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id or its end, last, @label, or a session file
    session: String,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let header = app.session(&SessionRef::parse(&args.session)?, output)?;
    let inspection = app.engine()?.inspect(&header.id)?;
    if !output.is_json() {
        for (number, message) in inspection.messages.iter().enumerate() {
            output.page(|page| transcript::message(page, number, message))?;
        }
    }
    output.answer(&inspection, |page| {
        page.end();
        page.fact("sent", count(inspection.messages.len() as u64, "message"));
        let synthetic = count(inspection.synthetic_results as u64, "synthetic result");
        if inspection.balanced {
            page.fact("calls", format!("balanced, {synthetic}"));
        } else {
            let open = count(inspection.open_results as u64, "open call");
            page.put(Tone::Warn, format!("{:<11}{open} answered, {synthetic}", "calls")).end();
        }
        let left: Vec<_> =
            inspection.excluded.iter().map(|(kind, number)| format!("{number} {kind}")).collect();
        page.fact("left out", left.join(", "));
    })
}

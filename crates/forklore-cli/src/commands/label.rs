//! `label`: changes the label of a session.

use forklore::api::SessionAnswer;
use forklore::core::Label;

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Tone};
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
Examples:
  forklore label last plan-b
  forklore show @plan-b";

/// Give a session another label
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, or last
    session: String,
    /// The label: letters, digits, `-`, `_` and `.`, unique in the family
    name: String,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = SessionRef::parse(&args.session)?;
    let label: Label = args.name.parse().map_err(Failure::name("label"))?;
    let before = app.stored(&session, output)?;
    let engine = app.engine()?;
    let header = engine.label(&before.id, &label)?;
    let (running, summary) = (engine.is_leased(&header), engine.has_summary(&header));
    output.answer(&SessionAnswer::of(&header, running, summary), |page| {
        page.put(Tone::Plain, &before.label).put(Tone::Plain, " is now ");
        page.put(Tone::Label, &header.label).put(Tone::Plain, "  ").put(Tone::Id, &header.id).end();
    })?;
    if header.label == before.label {
        return Ok(());
    }
    super::op::suggest_undo("give it its former label back", app, output)
}

//! `show`: shows the header of a session.

use forklore::api::SessionAnswer;

use crate::app::App;
use crate::failure::Result;
use crate::output::Output;
use crate::output::session::facts;
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
Examples:
  forklore show last
  forklore show @plan-b --json
  forklore show ~/.pi/agent/sessions/demo/1.jsonl";

/// Show the properties of a session
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, last, or a session file
    session: String,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let header = app.session(&SessionRef::parse(&args.session)?, output)?;
    let engine = app.engine()?;
    let lease = engine.lease_of(&header);
    let answer = SessionAnswer::of(&header, lease.is_some(), engine.has_summary(&header));
    output.answer(&answer, |page| facts(page, &header, lease, answer.summary))
}

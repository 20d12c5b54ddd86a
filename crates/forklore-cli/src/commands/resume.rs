//! `resume`: on with a conversation.

use super::chat::{How, talk};
use crate::app::App;
use crate::failure::Result;
use crate::output::Output;
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
Examples:
  forklore resume                   the conversation of this folder that was written last
  forklore resume @plan-b           a branch
  forklore resume last -p \"and then?\"

The same as forklore chat SESSION.";

/// Go on with a conversation
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id or its end, last, @label, or a session file
    #[arg(default_value = "last")]
    session: String,
    #[command(flatten)]
    how: How,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = SessionRef::parse(&args.session)?;
    talk(Some(&session), None, &args.how, app, output)
}

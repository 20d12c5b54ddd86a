//! `resume`: continues a conversation.

use super::chat::{How, New, Request, talk};
use crate::app::App;
use crate::failure::Result;
use crate::output::Output;
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
Examples:
  forklore resume                   the conversation of this folder that was written last
  forklore resume @plan-b           a branch
  forklore resume last -p \"and then?\"
  forklore resume last --continue   on with a turn that was interrupted or broken off

The same as forklore chat SESSION.";

/// Go on with a conversation
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, last, or a session file
    #[arg(default_value = "last")]
    session: String,
    #[command(flatten)]
    how: How,
    /// Go on with a turn that was interrupted or broken off, print the answer, and end
    #[arg(long = "continue", conflicts_with = "prompt")]
    continue_turn: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = SessionRef::parse(&args.session)?;
    let request =
        if args.continue_turn { Request::ContinueTurn } else { args.how.request(output)? };
    talk(Some(&session), New::default(), &args.how, request, app, output)
}

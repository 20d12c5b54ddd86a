//! `resume`: continues a conversation.

use super::chat::{How, New, Request, Which, talk};
use super::interface;
use crate::app::App;
use crate::failure::Result;
use crate::output::Output;
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
Examples:
  forklore resume                   choose a conversation of this folder
  forklore resume last              the one that was written last
  forklore resume @plan-b           a branch
  forklore resume last -p \"and then?\"
  forklore resume last --continue   on with a turn that was interrupted or broken off

The same as forklore chat SESSION.";

/// Go on with a conversation
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, last, or a session file [default: one that
    /// you choose from a list; last with -p or --continue, or without a terminal]
    session: Option<String>,
    #[command(flatten)]
    how: How,
    /// Go on with a turn that was interrupted or broken off, print the answer, and end
    #[arg(long = "continue", conflicts_with_all = ["prompt", "attach"])]
    continue_turn: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let named = SessionRef::parse(args.session.as_deref().unwrap_or("last"))?;
    let request =
        if args.continue_turn { Request::ContinueTurn } else { args.how.request(output)? };
    let chooses = args.session.is_none()
        && matches!(request, Request::Conversation)
        && interface::can_choose(output);
    let session = if chooses { Which::Chosen } else { Which::Named(&named) };
    talk(&session, New::default(), &args.how, request, app, output)
}

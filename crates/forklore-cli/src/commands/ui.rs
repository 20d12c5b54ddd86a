//! `ui`: browses, reads, searches and forks sessions in the terminal.

use forklore::core::ErrorKind;
use forklore_ui::{Outcome, Purpose};

use super::{chat, interface, resume_in};
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
? shows all keys of a screen; the last line shows the most important ones. Enter reads a session, t \
shows its family, s searches all sessions, f forks at the cursor, c marks a session and compares the \
next one with it, d deletes and u undoes that, r continues the conversation here and R in an agent. \
The mouse works too. What other programs write appears at once.

Without a terminal, list, log, replay, tree and search show the same.

Examples:
  forklore ui                       the sessions of this folder
  forklore ui --all                 those of every folder
  forklore ui last                  read the last one
  forklore ui ./session.jsonl       read a session of an agent";

/// Browse, read, search, fork and compare sessions in the terminal
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Read this session: an id, label or title, last, or a session file [default: show the list]
    session: Option<String>,
    /// Serve counts and durations for Prometheus at this address, or at this port of this machine; 0
    /// takes a free one
    #[arg(long, value_name = "HOST:PORT")]
    metrics: Option<String>,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = args.session.as_deref().map(SessionRef::parse).transpose()?;
    check(output)?;
    app.serve_metrics(args.metrics.as_deref(), output)?;
    let session = session.map(|session| app.session(&session, output)).transpose()?;
    let purpose = session.map_or(Purpose::Browse, |header| Purpose::Read(header.id));
    match interface::show(purpose, app, output)? {
        Outcome::Left | Outcome::Chosen(_) => Ok(()),
        Outcome::Stopped(signal) => Err(Failure::Stopped(interface::stop(signal))),
        Outcome::Resume(session) => {
            let session = SessionRef::parse(session.as_str())?;
            chat::converse(&session, app, output)
        }
        Outcome::ResumeIn { agent, session } => {
            resume_in::run(&resume_in::Args::of(agent, &session), app, output)
        }
    }
}

/// Checks that there is a terminal on which the interface can be shown.
fn check(output: &Output) -> Result<()> {
    let instead = |message: &str| {
        Failure::refused(ErrorKind::InvalidArgs, message)
            .or_try("forklore list")
            .or_try("forklore log last")
    };
    if output.is_json() {
        return Err(instead("the interface is for people and has no answer in JSON"));
    }
    let term = std::env::var("TERM").ok();
    forklore_ui::check(term.as_deref()).map_err(|error| instead(&error.to_string()))
}

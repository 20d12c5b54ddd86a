//! `ui`: browses, reads, searches and forks sessions in the terminal.

use forklore::Engine;
use forklore::core::ErrorKind;
use forklore_chat::Stop;
use forklore_ui::{Options, Outcome, Purpose};

use super::{chat, resume_in};
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::session_ref::SessionRef;
use crate::{interrupts, workspace};

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
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = args.session.as_deref().map(SessionRef::parse).transpose()?;
    check(output)?;
    let session = session.map(|session| app.session(&session, output)).transpose()?;
    let purpose = session.map_or(Purpose::Browse, |header| Purpose::Read(header.id));
    match show(purpose, app, output)? {
        Outcome::Left | Outcome::Chosen(_) => Ok(()),
        Outcome::Stopped(signal) => Err(Failure::Stopped(stop(signal))),
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

/// Shows the interface until the user leaves it.
fn show(purpose: Purpose, app: &App, output: &mut Output) -> Result<Outcome> {
    let engine = app.engine()?;
    let options = Options {
        purpose,
        folder: workspace::of(app.named_workspace())?,
        all: app.scope()?.workspace.is_none(),
        color: output.has_color(),
        program: output.commands().typed("forklore ui").trim_end_matches(" ui").to_owned(),
        agents: agents(engine),
    };
    output.flush()?;
    interrupts::leave();
    let shown = forklore_ui::run(engine, options);
    interrupts::heed();
    shown.map_err(|error| match error {
        forklore_ui::Error::Store(error) => Failure::Engine(error),
        forklore_ui::Error::Terminal(source) => {
            Failure::File { doing: "using the terminal".to_owned(), source }
        }
        other => Failure::invalid(other.to_string()),
    })
}

/// Returns the agents in which a session can be continued.
fn agents(engine: &Engine) -> Vec<String> {
    let formats = engine.agent_formats().0.iter();
    let writable = formats.filter(|format| format.export().is_some());
    writable.map(|format| format.name().to_owned()).collect()
}

fn stop(signal: i32) -> Stop {
    match signal {
        signal_hook::consts::SIGTERM => Stop::Terminate,
        signal_hook::consts::SIGHUP => Stop::HangUp,
        _ => Stop::Interrupt,
    }
}

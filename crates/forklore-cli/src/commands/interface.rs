//! Shows the terminal interface: to browse, or to choose a session.

use std::sync::Arc;

use forklore::core::{ErrorKind, SessionId};
use forklore_chat::Stop;
use forklore_ui::{Options, Outcome, Purpose};

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::{agents, interrupts, workspace};

/// Checks whether a user can be asked to choose a session.
pub(super) fn can_choose(output: &Output) -> bool {
    let term = std::env::var("TERM").ok();
    !output.is_json() && forklore_ui::check(term.as_deref()).is_ok()
}

/// Lets the user choose a session. Returns `None` if the user chose none.
///
/// # Errors
/// When the terminal or the store fails, or a signal ended the program.
pub(super) fn choose(app: &App, output: &mut Output) -> Result<Option<SessionId>> {
    match show(Purpose::Choose, app, output)? {
        Outcome::Chosen(session) => Ok(Some(session)),
        Outcome::Stopped(signal) => Err(Failure::Stopped(stop(signal))),
        Outcome::Left | Outcome::Resume(_) | Outcome::ResumeIn { .. } => Ok(None),
    }
}

/// Shows the interface until the user leaves it.
pub(super) fn show(purpose: Purpose, app: &App, output: &mut Output) -> Result<Outcome> {
    let engine = app.engine()?;
    let options = Options {
        purpose,
        folder: workspace::of(app.named_workspace())?,
        all: app.scope()?.workspace.is_none(),
        color: output.has_color(),
        program: output.commands().typed("forklore ui").trim_end_matches(" ui").to_owned(),
        agents: agents::to_export_to().map(str::to_owned).collect(),
        zone: output.zone().time_zone(),
        files: app.files().ok().map(Arc::new),
    };
    output.flush()?;
    let shown = interrupts::suspended(|| forklore_ui::run(engine, options));
    shown.map_err(|error| match error {
        forklore_ui::Error::Store(error) => Failure::Engine(error),
        forklore_ui::Error::Terminal(source) => {
            Failure::File { doing: "using the terminal".to_owned(), source }
        }
        broken @ forklore_ui::Error::Broken => {
            Failure::refused(ErrorKind::Internal, broken.to_string())
        }
        other => Failure::invalid(other.to_string()),
    })
}

/// Returns the signal with this number, which ended the interface.
pub(super) fn stop(signal: i32) -> Stop {
    match signal {
        signal_hook::consts::SIGTERM => Stop::Terminate,
        signal_hook::consts::SIGHUP => Stop::HangUp,
        _ => Stop::Interrupt,
    }
}

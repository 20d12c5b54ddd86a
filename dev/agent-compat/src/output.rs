//! The one file that prints. What is known is printed at once: a whole run takes hours.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program talks to a person")]

use std::error::Error;
use std::process::ExitCode;

use crate::run::{Different, Outcome, Tried};

/// Says what the columns of the outcomes are.
pub(crate) fn heading() {
    println!(
        "{:<10}{:<10}{:>10}{:>8}{:>11}{:>10}{:>9}",
        "AGENT", "FROM", "SESSIONS", "FORKS", "DIFFERENT", "LEFT OUT", "SECONDS"
    );
}

/// Says how many forks an agent is about to be started on.
pub(crate) fn begun(Tried { agent, from }: Tried, sessions: usize, places: usize) {
    eprintln!("{agent} from {from}: {places} places in {sessions} sessions");
}

/// Shows a fork in which the model received something else.
pub(crate) fn different(Tried { agent, from }: Tried, different: &Different) {
    println!("\n{agent} from {from}: {different}");
}

/// Shows what came of an agent on the sessions of one.
pub(crate) fn outcome(outcome: &Outcome) {
    let Outcome { tried: Tried { agent, from }, sessions, forks, different, left_out, seconds } =
        outcome;
    println!(
        "{agent:<10}{from:<10}{sessions:>10}{forks:>8}{different:>11}{left_out:>10}{seconds:>9.1}"
    );
}

/// Whether everything was as it should be. An agent without a session to try proves nothing.
pub(crate) fn verdict(outcomes: &[Outcome]) -> ExitCode {
    let sound = |outcome: &Outcome| outcome.forks > 0 && outcome.different == 0;
    if outcomes.iter().all(sound) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Says why nothing could be tried.
pub(crate) fn failure(error: &dyn Error) -> ExitCode {
    eprintln!("forklore-agent-compat: {error}");
    ExitCode::from(2)
}

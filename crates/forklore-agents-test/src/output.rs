//! The one file that prints.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program talks to a person")]

use std::error::Error;
use std::process::ExitCode;

use crate::run::Outcome;

/// Shows a line for each agent, then every fork in which its model received something else.
pub(crate) fn report(outcomes: &[Outcome]) -> ExitCode {
    println!(
        "{:<10}{:<10}{:>10}{:>8}{:>11}{:>9}",
        "AGENT", "FROM", "SESSIONS", "FORKS", "DIFFERENT", "SECONDS"
    );
    for outcome in outcomes {
        let Outcome { agent, from, sessions, forks, different, seconds } = outcome;
        let different = different.len();
        println!("{agent:<10}{from:<10}{sessions:>10}{forks:>8}{different:>11}{seconds:>9.1}");
    }
    for (outcome, different) in
        outcomes.iter().flat_map(|outcome| outcome.different.iter().map(move |d| (outcome, d)))
    {
        println!("\n{} from {}: {different}", outcome.agent, outcome.from);
    }
    // An agent without a session to try proves nothing.
    let sound = |outcome: &Outcome| outcome.forks > 0 && outcome.different.is_empty();
    if outcomes.iter().all(sound) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Says why nothing could be tried.
pub(crate) fn failure(error: &dyn Error) -> ExitCode {
    eprintln!("forklore-agents-test: {error}");
    ExitCode::from(2)
}

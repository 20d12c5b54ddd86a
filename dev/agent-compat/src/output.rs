//! All output of the program: this is the only file that prints. It prints each result immediately,
//! because a complete run takes hours.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program talks to a person")]

use std::error::Error;
use std::process::ExitCode;

use crate::agent::{Agent, Hooks};
use crate::case::Kind;
use crate::outcome::{Different, Outcome, Tried};

/// Prints the column headings of the table of test outcomes.
pub(crate) fn heading() {
    println!(
        "{:<10}{:<19}{:>10}{:>8}{:>11}{:>10}{:>9}",
        "AGENT", "FROM", "SESSIONS", "FORKS", "DIFFERENT", "LEFT OUT", "SECONDS"
    );
}

/// Prints on how many forks and sessions an agent is about to be tested.
pub(crate) fn begun(tried: Tried, sessions: usize, forks: usize) {
    eprintln!("{} from {}: {forks} places in {sessions} sessions", tried.agent, from(tried));
}

/// Prints a fork for which the agent did not send the expected messages to the model.
pub(crate) fn different(tried: Tried, different: &Different) {
    println!("\n{} from {}: {different}", tried.agent, from(tried));
}

/// Describes the tested sessions: names the agent that wrote them, and their kind.
fn from(tried: Tried) -> String {
    match tried.kind {
        Kind::Written => tried.from.to_owned(),
        Kind::ParallelCalls => format!("{}, parallel", tried.from),
        Kind::Images => format!("{}, images", tried.from),
    }
}

/// Prints a row of the table of test outcomes: the outcome of testing one agent on one group of
/// sessions.
pub(crate) fn outcome(outcome: &Outcome) {
    let Outcome { tried, sessions, forks, different, left_out, seconds } = outcome;
    let (agent, from) = (tried.agent, from(*tried));
    println!(
        "{agent:<10}{from:<19}{sessions:>10}{forks:>8}{different:>11}{left_out:>10}{seconds:>9.1}"
    );
}

/// Prints whether an agent found and forked an earlier session.
pub(crate) fn recalled(agent: &str, outcome: &Result<String, String>) {
    match outcome {
        Ok(fork) => println!("{agent:<10}found an earlier session and forked it: {fork}"),
        Err(why) => println!("{agent:<10}did not fork an earlier session\n{why}"),
    }
}

/// Prints whether an agent went on in worktrees.
pub(crate) fn explored(agent: &str, outcome: &Result<(), String>) {
    match outcome {
        Ok(()) => println!("{agent:<10}went on in two worktrees"),
        Err(why) => println!("{agent:<10}did not go on in worktrees\n{why}"),
    }
}

/// Prints whether files and conversation went back together, and when the agent's hooks run.
pub(crate) fn rewound(agent: &Agent, outcome: &Result<(), String>) {
    let name = agent.name;
    let when = match agent.hooks {
        Hooks::BeforePrompt => "before and after each turn",
        Hooks::AfterPrompt => "after the prompt and after each turn",
        Hooks::AtEnd => "after each turn",
    };
    match outcome {
        Ok(()) => println!("{name:<10}files and conversation go back, recorded {when}"),
        Err(why) => println!("{name:<10}files and conversation do not go back\n{why}"),
    }
}

/// Returns the exit code of the test run. It is success if every outcome includes at least one
/// tested fork, and no fork differed from the expectation.
pub(crate) fn verdict(outcomes: &[Outcome]) -> ExitCode {
    let sound = |outcome: &Outcome| outcome.forks > 0 && outcome.different == 0;
    if outcomes.iter().all(sound) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the exit code of a test run in which every agent must pass.
pub(crate) fn verdict_of_all(is_well: bool) -> ExitCode {
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints the error that prevented the tests, and returns the exit code 2.
pub(crate) fn failure(error: &dyn Error) -> ExitCode {
    eprintln!("forklore-agent-compat: {error}");
    ExitCode::from(2)
}

//! Whether real agents go on in the files that forklore writes for them.
//!
//! Every session that a real agent wrote is forked behind every record. Each fork is handed to
//! the agent with `forklore resume-in`, the agent is started on a model of our own, and what it
//! sends is compared with what forklore says that the model has to receive.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program talks to a person")]

mod agent;
mod atoms;
mod case;
mod error;
mod mock;
mod request;
mod run;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::error::{Error, Result};
use crate::run::{Outcome, Setting};

const USAGE: &str = "usage: forklore-agents-test --forklore PROGRAM --agents FOLDER --node PROGRAM --python PROGRAM \
                     [--quick] [--sessions FOLDER]... [AGENT]...";

fn main() -> ExitCode {
    match start() {
        Ok(outcomes) => report(&outcomes),
        Err(error) => {
            eprintln!("forklore-agents-test: {error}");
            ExitCode::from(2)
        }
    }
}

/// The agents side by side: each has a home, a model and a store of its own.
fn start() -> Result<Vec<Outcome>> {
    let (setting, names) = arguments()?;
    let chosen: Vec<_> = agent::ALL
        .iter()
        .filter(|agent| names.is_empty() || names.iter().any(|name| name == agent.name))
        .collect();
    if chosen.is_empty() {
        return Err(Error::Usage(USAGE));
    }
    std::thread::scope(|scope| {
        let setting = &setting;
        let running: Vec<_> =
            chosen.into_iter().map(|agent| scope.spawn(move || run::all(agent, setting))).collect();
        let mut outcomes = Vec::new();
        for thread in running {
            outcomes.extend(thread.join().map_err(|_| Error::Lost)??);
        }
        Ok(outcomes)
    })
}

fn arguments() -> Result<(Setting, Vec<String>)> {
    let mut args = std::env::args().skip(1);
    let (mut forklore, mut agents, mut node, mut python) = (None, None, None, None);
    let (mut sessions, mut names, mut quick) = (Vec::new(), Vec::new(), false);
    while let Some(arg) = args.next() {
        let mut path = || args.next().map(PathBuf::from).ok_or(Error::Usage(USAGE));
        match arg.as_str() {
            "--forklore" => forklore = Some(path()?),
            "--agents" => agents = Some(path()?),
            "--node" => node = Some(path()?),
            "--python" => python = Some(path()?),
            "--sessions" => sessions.push(path()?),
            "--quick" => quick = true,
            option if option.starts_with('-') => return Err(Error::Usage(USAGE)),
            _ => names.push(arg),
        }
    }
    let usage = Error::Usage(USAGE);
    let (Some(forklore), Some(agents), Some(node), Some(python)) = (forklore, agents, node, python)
    else {
        return Err(usage);
    };
    Ok((Setting { forklore, agents, node, python, sessions, quick }, names))
}

fn report(outcomes: &[Outcome]) -> ExitCode {
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

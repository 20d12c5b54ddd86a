//! Whether real agents go on in the files that forklore writes for them.
//!
//! Every session that a real agent wrote is forked behind every record. Each fork is handed to
//! the agent with `forklore resume-in`, the agent is started on a model of our own, and what it
//! sends is compared with what forklore says that the model has to receive.

mod agent;
mod atoms;
mod case;
mod error;
mod mock;
mod output;
mod request;
mod run;

use std::process::ExitCode;

use clap::Parser;

use crate::error::{Error, Result};
use crate::run::{Outcome, Setting};

fn main() -> ExitCode {
    match start(&Setting::parse()) {
        Ok(outcomes) => output::verdict(&outcomes),
        Err(error) => output::failure(&error),
    }
}

/// The agents side by side: each has a home, a model and a store of its own.
fn start(setting: &Setting) -> Result<Vec<Outcome>> {
    let names = &setting.names;
    let is_asked = |name: &str| names.is_empty() || names.iter().any(|asked| asked == name);
    let chosen: Vec<_> = agent::ALL.iter().filter(|agent| is_asked(agent.name)).collect();
    if chosen.is_empty() {
        return Err(Error::Nobody(names.join(", ")));
    }
    output::heading();
    std::thread::scope(|scope| {
        let running: Vec<_> =
            chosen.into_iter().map(|agent| scope.spawn(move || run::all(agent, setting))).collect();
        let mut outcomes = Vec::new();
        for thread in running {
            outcomes.extend(thread.join().map_err(|_| Error::Lost)??);
        }
        Ok(outcomes)
    })
}

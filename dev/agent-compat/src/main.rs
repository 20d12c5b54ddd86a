//! Tests whether real agents can continue in the files that forklore writes for them.
//!
//! The program forks every session that a real agent wrote after every record. For each fork,
//! `forklore resume-in` writes a file of the agent. Then the program starts the agent with a fake
//! model, and compares the agent's request with the messages that forklore expects the model to
//! receive.
//!
//! It also has agents find and fork an earlier session with the tools of `forklore mcp`, and go on in
//! worktrees with `forklore explore --agent`, and takes back the files that agents change.

mod agent;
mod agents;
mod atoms;
mod case;
mod changes;
mod error;
mod explore;
mod files;
mod folder;
mod mock;
mod outcome;
mod output;
mod recall;
mod request;
mod run;
mod setting;
mod site;
mod store;
mod theirs;
mod tools;

use std::process::ExitCode;

use clap::Parser;

use crate::error::{Error, Result};
use crate::setting::Setting;

fn main() -> ExitCode {
    match start(&Setting::parse()) {
        Ok(code) => code,
        Err(error) => output::failure(&error),
    }
}

/// Tests the requested agents concurrently, each with its own home directory, fake model and store: in
/// forks, or else whether they find and fork an earlier session. Returns the exit code.
fn start(setting: &Setting) -> Result<ExitCode> {
    let names = &setting.names;
    let is_requested =
        |name: &str| names.is_empty() || names.iter().any(|question| question == name);
    let chosen: Vec<_> = agents::ALL.iter().filter(|agent| is_requested(agent.name)).collect();
    if chosen.is_empty() {
        return Err(Error::Nobody(names.join(", ")));
    }
    if setting.recall {
        return Ok(output::verdict_of_all(recall::all(setting, &chosen)?));
    }
    if setting.explore {
        return Ok(output::verdict_of_all(explore::all(setting, &chosen)?));
    }
    if setting.files {
        return Ok(output::verdict_of_all(files::all(setting, &chosen)?));
    }
    output::heading();
    std::thread::scope(|scope| {
        let running: Vec<_> =
            chosen.into_iter().map(|agent| scope.spawn(move || run::all(agent, setting))).collect();
        let mut outcomes = Vec::new();
        for thread in running {
            outcomes.extend(thread.join().map_err(|_| Error::Lost)??);
        }
        Ok(output::verdict(&outcomes))
    })
}

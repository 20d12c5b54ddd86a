//! `hooks`: lets other agents record the files at each of their turns.

mod agent;
mod json_text;
mod list;
mod notify;
mod script;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use forklore::api::Installed;
use forklore::core::ErrorKind;

use self::agent::Agent;
use crate::agent_config::{read, this_program, write};
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::new_file;
use crate::output::{Output, Page, Tone};

const EXAMPLES: &str = "\
A hook is a command that the agent runs: here, at the begin and end of each turn, it records the \
files of the folder (Codex: at the end). So `forklore rewind` can take back files that another agent \
changed, by its tools or in a shell. Its session is imported as ever.

A hook never stops the agent. What went wrong, `forklore hooks list` shows.

Examples:
  forklore hooks install claude
  forklore hooks install gemini --project    for this folder only
  forklore hooks list
  forklore hooks remove claude               the file is as it was before";

/// Let other agents record the files at each turn
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Hooks,
}

/// A command about hooks.
#[derive(Debug, Subcommand)]
enum Hooks {
    /// Add the hooks to the configuration of an agent, after asking
    Install(AgentArgs),
    /// Take the hooks out of the configuration of an agent, after asking
    Remove(AgentArgs),
    /// List the agents, with their hooks and when these last ran
    List,
}

/// An agent, and whose configuration is meant.
#[derive(Debug, clap::Args)]
struct AgentArgs {
    /// The agent: claude, codex, gemini, opencode or pi
    #[arg(value_parser = PossibleValuesParser::new(Agent::NAMES), hide_possible_values = true)]
    agent: String,
    /// The configuration of this folder instead of yours
    #[arg(long)]
    project: bool,
    /// Write without asking
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    match &args.command {
        Hooks::Install(args) => install(args, app, output),
        Hooks::Remove(args) => remove(args, app, output),
        Hooks::List => list::run(app, output),
    }
}

impl AgentArgs {
    fn agent(&self) -> Result<Agent> {
        Agent::named(&self.agent).ok_or_else(|| Failure::invalid("no such agent"))
    }

    fn file(&self, app: &App) -> Result<PathBuf> {
        let project = self.project.then(|| app.workspace()).transpose()?;
        self.agent()?.file(project.as_ref().map(|project| Path::new(project.as_str())))
    }
}

fn install(args: &AgentArgs, app: &App, output: &mut Output) -> Result<()> {
    let (agent, path, program) = (args.agent()?, args.file(app)?, this_program(app)?);
    let before = read(&path)?;
    let after = agent.with(before.as_deref().unwrap_or_default(), &program);
    let after = after.map_err(|why| cannot(&path, &why))?;
    let answer = Installed {
        agent: args.agent.clone(),
        existing: before.as_ref() == Some(&after),
        path,
        written: false,
        entry: agent.entry(&program),
    };
    let show = |page: &mut Page, written: bool| {
        if !written || args.yes {
            page.block(Tone::Plain, &answer.entry, 2, usize::MAX);
        }
        let what = match (written, answer.existing) {
            (true, _) => "Wrote ",
            (false, true) => "It is there already: ",
            (false, false) => "For ",
        };
        page.put(Tone::Good, what).put(Tone::Strong, answer.path.display()).end();
    };
    if answer.existing {
        return output.answer(&answer, |page| show(page, false));
    }
    ask(args, "install", output, |page| show(page, false))?;
    write(&answer.path, &after)?;
    let written = Installed { written: true, ..answer.clone() };
    output.answer(&written, |page| show(page, true))?;
    let next = format!("forklore import --from {}", args.agent);
    output.hint(&next, "then rewind its sessions with: forklore rewind SESSION --at CUT");
    Ok(())
}

fn remove(args: &AgentArgs, app: &App, output: &mut Output) -> Result<()> {
    let (agent, path) = (args.agent()?, args.file(app)?);
    let before = read(&path)?.unwrap_or_default();
    let after = agent.without(&before).map_err(|why| cannot(&path, &why))?;
    let mut answer = Installed {
        agent: args.agent.clone(),
        path,
        written: false,
        existing: after.is_some(),
        entry: String::new(),
    };
    let Some(after) = after else {
        return output.answer(&answer, |page| {
            page.put(Tone::Plain, "There are no hooks of forklore in ");
            page.put(Tone::Strong, answer.path.display()).end();
        });
    };
    ask(args, "remove", output, |page| {
        page.put(Tone::Plain, "The hooks of forklore go out of ");
        page.put(Tone::Strong, answer.path.display()).end();
    })?;
    // A file that has nothing else was made by `install`.
    if matches!(after.as_str(), "" | "{}\n") {
        fs::remove_file(&answer.path).map_err(new_file::failed(&answer.path))?;
    } else {
        write(&answer.path, &after)?;
    }
    answer.written = true;
    output.answer(&answer, |page| {
        page.put(Tone::Good, "Took the hooks out of ");
        page.put(Tone::Strong, answer.path.display()).end();
    })
}

/// Shows what is to be written, and asks whether to write it.
fn ask(
    args: &AgentArgs,
    verb: &str,
    output: &mut Output,
    show: impl FnOnce(&mut Page),
) -> Result<()> {
    if args.yes {
        return Ok(());
    }
    if !output.can_ask() {
        let message = "there is nobody to ask, so nothing was written";
        let again = format!("forklore hooks {verb} {} --yes", args.agent);
        return Err(Failure::invalid(message).or_try(again));
    }
    output.page(show)?;
    if output.asks("Write it?")? {
        return Ok(());
    }
    Err(Failure::refused(ErrorKind::Interrupted, "nothing was written"))
}

fn cannot(path: &Path, why: &str) -> Failure {
    let message = format!("{} cannot be changed: {why}", path.display());
    Failure::refused(ErrorKind::Conflict, message)
}

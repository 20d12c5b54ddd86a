//! `install mcp`: adds `forklore mcp` to the MCP servers of an agent.

use clap::builder::PossibleValuesParser;
use forklore::api::Installed;
use forklore::core::ErrorKind;
use forklore_mcp::Allow;

use super::agent::{Agent, Server};
use crate::agent_config::{read, this_program, write};
use crate::app::App;
use crate::choice::choice;
use crate::failure::{Failure, Result};
use crate::output::{Output, Page, Tone};

const EXAMPLES: &str = "\
The entry is shown before it is written, and the file is written only after a yes, or with --yes. \
Every other entry stays as it is. Doing it again changes nothing, or replaces the entry of forklore \
if it differs. --store and --allow become a part of the entry.

Examples:
  forklore install mcp claude --print
  forklore install mcp claude
  forklore install mcp codex --allow fork,label --yes
  forklore --store files:/work/sessions install mcp gemini";

/// Let an agent use forklore's MCP server
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The agent: claude, codex, gemini or opencode
    #[arg(value_parser = PossibleValuesParser::new(Agent::NAMES), hide_possible_values = true)]
    agent: String,
    /// What the agent may do beyond reading: fork, bring, label
    #[arg(long, value_name = "VERBS", value_delimiter = ',')]
    #[arg(value_parser = choice::<Allow>(&["fork", "bring", "label"]))]
    allow: Vec<Allow>,
    /// Show the entry and the file; write nothing
    #[arg(long)]
    print: bool,
    /// Write without asking
    #[arg(long, conflicts_with = "print")]
    yes: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let agent = Agent::named(&args.agent).ok_or_else(|| Failure::invalid("no such agent"))?;
    let server = server(args, app)?;
    let path = agent.file()?;
    let before = read(&path)?;
    let changed = agent.with(before.as_deref().unwrap_or_default(), &server);
    let after = changed.map_err(|why| {
        let message = format!("{} cannot be changed: {why}", path.display());
        let next = format!("forklore install mcp {} --print", args.agent);
        Failure::refused(ErrorKind::Conflict, message).or_try(next)
    });
    let entry = agent.entry(&server);
    let mut answer = Installed {
        agent: args.agent.clone(),
        existing: after.as_ref().is_ok_and(|after| before.as_ref() == Some(after)),
        path,
        written: false,
        entry,
    };
    if args.print || answer.existing {
        return output.answer(&answer, |page| show(page, &answer));
    }
    let after = after?;
    ask(args, &answer, output)?;
    write(&answer.path, &after)?;
    answer.written = true;
    output.answer(&answer, |page| {
        // Who was asked has seen the entry.
        if args.yes {
            page.block(Tone::Plain, &answer.entry, 2, usize::MAX);
        }
        page.put(Tone::Good, "Wrote ").put(Tone::Strong, answer.path.display()).end();
    })
}

/// Returns the command that the agent is to start.
fn server(args: &Args, app: &App) -> Result<Server> {
    let mut program = this_program(app)?.into_iter();
    let path = program.next().unwrap_or_default();
    let mut words: Vec<String> = program.collect();
    words.push("mcp".to_owned());
    if !args.allow.is_empty() {
        let names: Vec<_> = args.allow.iter().map(|verb| verb.as_str()).collect();
        words.extend(["--allow".to_owned(), names.join(",")]);
    }
    Ok(Server { program: path, words })
}

/// Shows the entry and asks whether to write it.
fn ask(args: &Args, answer: &Installed, output: &mut Output) -> Result<()> {
    if args.yes {
        return Ok(());
    }
    let again = format!("forklore install mcp {} --yes", args.agent);
    if !output.can_ask() {
        let message = "there is nobody to ask, so nothing was written";
        return Err(Failure::invalid(message).or_try(again));
    }
    output.page(|page| show(page, answer))?;
    if output.asks("Write it?")? {
        return Ok(());
    }
    Err(Failure::refused(ErrorKind::Interrupted, "nothing was written"))
}

fn show(page: &mut Page, answer: &Installed) {
    page.block(Tone::Plain, &answer.entry, 2, usize::MAX);
    let there = if answer.existing { "It is there already: " } else { "For " };
    page.put(Tone::Plain, there).put(Tone::Strong, answer.path.display()).end();
}

//! `mcp`: serves the sessions to an agent, over the Model Context Protocol.

use std::collections::BTreeSet;

use forklore::core::ErrorKind;
use forklore_mcp::{Allow, McpServer, Options, serve_stdio};

use crate::app::App;
use crate::choice::choice;
use crate::failure::{Failure, Result};
use crate::output::Output;

const EXAMPLES: &str = "\
An agent starts this command and speaks with it over standard input and output. It gets tools to \
search, read and compare the sessions of the folder in which it works, and of all folders if it \
asks. The server only reads; --allow adds tools that fork, bring and label. None deletes.

forklore install mcp AGENT adds the command to the configuration of an agent.

Examples:
  forklore mcp
  forklore mcp --allow fork,label
  forklore mcp --all                       look into all folders without being asked
  claude mcp add forklore -- forklore mcp";

/// Let an agent search, read and fork its earlier sessions (MCP)
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What the agent may do beyond reading: fork, bring, label
    #[arg(long, value_name = "VERBS", value_delimiter = ',')]
    #[arg(value_parser = choice::<Allow>(&["fork", "bring", "label"]))]
    allow: Vec<Allow>,
}

pub(super) fn run(args: &Args, app: &App, output: &Output) -> Result<()> {
    if output.is_json() {
        let message = "this command speaks MCP with a program and has no other answer in JSON";
        return Err(Failure::invalid(message).or_try("forklore list --json"));
    }
    let options = Options {
        allow: args.allow.iter().copied().collect::<BTreeSet<_>>(),
        workspace: app.scope()?.workspace,
        store: app.globals().store.as_deref().map(forklore::without_password),
    };
    // The server may be older than the first session, so it needs the store itself.
    let engine = app.engine_or_new()?.clone().with_program("forklore mcp");
    serve_stdio(McpServer::new(engine, options))
        .map_err(|error| Failure::refused(ErrorKind::Internal, error.to_string()))
}

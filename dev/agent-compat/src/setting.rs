//! The command line of the program.

use std::path::PathBuf;

use clap::Parser;

/// What everything runs with.
#[derive(Debug, Parser)]
#[command(name = "forklore-agent-compat")]
pub(crate) struct Setting {
    /// The program forklore
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) forklore: PathBuf,
    /// The folder that the agents are installed in
    #[arg(long, value_name = "FOLDER")]
    pub(crate) agents: PathBuf,
    /// The node that runs them
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) node: PathBuf,
    /// The Python that the SDK of Claude Code was installed with
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) python: PathBuf,
    /// A folder of sessions; may be repeated
    #[arg(long, value_name = "FOLDER")]
    pub(crate) sessions: Vec<PathBuf>,
    /// A few forks of each agent only
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only whether agents find and fork an earlier session with the tools of `forklore mcp`
    #[arg(long)]
    pub(crate) recall: bool,
    /// Only whether agents go on in worktrees with `forklore explore --agent`
    #[arg(long)]
    pub(crate) explore: bool,
    /// Only whether the files that agents change go back together with the conversation
    #[arg(long)]
    pub(crate) files: bool,
    /// The agents to try [default: all]
    #[arg(value_name = "AGENT")]
    pub(crate) names: Vec<String>,
}

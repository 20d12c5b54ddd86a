//! The options that every command accepts.

use std::path::PathBuf;

use clap::ColorChoice;
use tracing_subscriber::filter::Targets;

use crate::output::Settings;

/// The options that every command accepts.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options for every command")]
pub(crate) struct Globals {
    /// The store: sqlite:PATH, files:DIR, graph:DIR or memory: [default: sqlite: in the data
    /// directory]
    #[arg(long, global = true, value_name = "URL", env = "FORKLORE_STORE", hide_env_values = true)]
    pub(crate) store: Option<String>,
    /// Use the sessions of this folder [default: the current directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Use the sessions of every folder
    #[arg(long, global = true, conflicts_with = "workspace")]
    pub(crate) all: bool,
    /// Refuse a fork that needs more than N ancestors for its history [default: no limit]
    #[arg(
        long,
        global = true,
        value_name = "N",
        env = "FORKLORE_MAX_FORK_DEPTH",
        hide_env_values = true
    )]
    pub(crate) max_fork_depth: Option<u64>,
    /// Print answers and errors as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to print in colour
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = false
    )]
    pub(crate) color: ColorChoice,
    /// Print no hints and no progress
    #[arg(short = 'q', long = "quiet", global = true)]
    pub(crate) silent: bool,
    /// Print the causes of each error
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// What to log on standard error: a level, or levels of single crates
    #[arg(long, global = true, hide = true, value_name = "FILTER", env = "FORKLORE_LOG")]
    pub(crate) log: Option<Targets>,
}

impl Globals {
    /// Returns the output settings that the options request.
    pub(crate) fn settings(&self, store_is_typed: bool) -> Settings {
        Settings {
            json: self.json,
            silent: self.silent,
            verbose: self.verbose,
            color: self.color,
            store: self.store.clone().filter(|_| store_is_typed),
        }
    }
}

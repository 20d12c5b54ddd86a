//! The options that every command accepts.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ColorChoice};
use forklore_host::Setting;
use tracing_subscriber::filter::Targets;

use crate::output::{Settings, Zone};

/// The heading of these options in the help.
const HEADING: &str = "Options for every command";

/// The name of the option that overrides the configuration.
pub(crate) const CONFIG: &str = "config";

/// Returns the definition of the option `-c`, which overrides the configuration. The program and
/// each command define this option separately. If it were a single global option, clap would drop
/// the values before the command whenever there are values after the command.
pub(crate) fn config_option() -> Arg {
    Arg::new(CONFIG)
        .short('c')
        .long(CONFIG)
        .value_name("KEY=VALUE")
        .action(ArgAction::Append)
        .help_heading(HEADING)
        .help(
            "Override a setting of the configuration file for this run, such as \
             models.local.model=NAME; may be given several times",
        )
}

/// Options that every verb takes.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct Globals {
    /// The settings that override the configuration file, in their order ([`config_option`]).
    #[arg(skip)]
    pub(crate) config: Vec<Setting>,
    /// The store: sqlite:PATH, files:DIR, graph:DIR, postgres://USER@HOST/DATABASE, https://HOST or
    /// memory: [default: sqlite: in the data directory]
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
    /// Show times in UTC [default: in the time zone of this machine, or of TZ]
    #[arg(long, global = true)]
    pub(crate) utc: bool,
    /// Print long answers without a pager [default pager: PAGER, or less]
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
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
            zone: if self.utc { Zone::Utc } else { Zone::Local },
            pages: !self.no_pager,
            store: self.store.clone().filter(|_| store_is_typed),
        }
    }
}

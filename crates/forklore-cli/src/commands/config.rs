//! `config`: shows, checks, creates and edits the configuration file.

mod check;
mod edit;
pub(super) mod file;
mod init;
mod show;

use clap::Subcommand;

use crate::app::App;
use crate::failure::Result;
use crate::output::Output;

const EXAMPLES: &str = "\
The configuration is one file of yours: config.toml in the folder forklore of your configuration \
directory, or the file that FORKLORE_CONFIG names. It names models, tools and what they may do, and \
never contains a key.

Examples:
  forklore config show              every setting, and where it comes from
  forklore config check             every problem, with its line and what to do
  forklore config init              write one, with the servers and keys that are there
  forklore config edit              change it in your editor; it is checked before it is used";

/// Show, check, create or edit the configuration
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

/// What `config` does. Without an action, it shows the settings.
#[derive(Debug, Subcommand)]
enum Action {
    Show(show::Args),
    Check(check::Args),
    Init(init::Args),
    Edit(edit::Args),
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    match &args.action {
        None | Some(Action::Show(_)) => show::run(app, output),
        Some(Action::Check(_)) => check::run(app, output),
        Some(Action::Init(args)) => init::run(args, output),
        Some(Action::Edit(_)) => edit::run(output),
    }
}

//! `completions`: prints the script that lets a shell complete commands, sessions and labels.

use clap::builder::PossibleValuesParser;
use forklore::api::CompletionScript;

use crate::completion;
use crate::failure::{Failure, Result};
use crate::output::Output;

const SHELLS: [&str; 5] = ["bash", "zsh", "fish", "elvish", "powershell"];

const EXAMPLES: &str = "\
Put the line of your shell where it belongs; new shells then complete verbs, options, sessions and \
labels. The program itself is asked while you type, so nothing has to be done after an upgrade.

  ~/.bashrc                  source <(forklore completions bash)
  ~/.zshrc, after compinit   source <(forklore completions zsh)
  ~/.config/fish/config.fish forklore completions fish | source
  ~/.config/elvish/rc.elv    eval (forklore completions elvish | slurp)
  $PROFILE of powershell     forklore completions powershell | Out-String | iex

Examples:
  forklore completions bash
  source <(forklore completions zsh)     in this shell only, to try it";

/// Print the script that lets a shell complete commands and sessions
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell
    #[arg(value_parser = PossibleValuesParser::new(SHELLS))]
    shell: String,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<()> {
    let Some(script) = completion::script(&args.shell) else {
        return Err(Failure::invalid("no script is known for this shell"));
    };
    let answer = CompletionScript { shell: args.shell.clone(), script };
    output.verbatim(&answer, &answer.script)
}

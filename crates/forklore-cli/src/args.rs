//! The command line: its definition and its parser.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind as ClapKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, ColorChoice, CommandFactory, FromArgMatches, Parser};
use forklore_host::{InvalidSetting, Setting};

use crate::commands::Command;
use crate::failure::Failure;
use crate::globals::{CONFIG, Globals, config_option};
use crate::output::{Output, Settings, Zone};
use crate::{exit, help, usage};

const AFTER_HELP: &str = "\
A session is an append-only log. A fork continues it from any point without copying it, so trying \
another answer costs nothing and loses nothing. What to do first: run forklore alone.

FORKLORE_STORE names the store as --store does, and FORKLORE_CONFIG another file with the \
configuration, which -c overrides for one run. FORKLORE_LOG=info (or debug, or \
forklore_sqlite=debug,warn) logs on standard error what the program meets.";

/// Keep, fork, compare and replay the sessions of AI agents
#[derive(Debug, Parser)]
#[command(name = "forklore", version, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Returns the definition of the command line, with its commands grouped in the help.
pub(crate) fn command() -> clap::Command {
    help::grouped(with_config_option(Cli::command()))
}

/// Adds the option `-c` to a command and to all commands below it.
fn with_config_option(command: clap::Command) -> clap::Command {
    command.arg(config_option()).mut_subcommands(with_config_option)
}

/// Parses the settings of `-c`. The settings before the command come first.
fn settings(matches: &ArgMatches) -> Result<Vec<Setting>, Failure> {
    let levels = std::iter::successors(Some(matches), |above| Some(above.subcommand()?.1));
    let texts = levels.filter_map(|matches| matches.get_many::<String>(CONFIG)).flatten();
    // The message does not repeat a value, which may be a misplaced key. clap's would.
    texts.map(|text| text.parse().map_err(|error| invalid_setting(&error))).collect()
}

fn invalid_setting(error: &InvalidSetting) -> Failure {
    Failure::invalid(error.to_string()).or_try("forklore -c models.NAME.model=\"MODEL\" chat")
}

/// Parses the command line.
///
/// # Errors
/// For a usage error, and for `--help` and `--version`. This function itself prints the error
/// message, the help or the version. The returned error is the exit code of the program.
pub(crate) fn read() -> Result<(Cli, Output), ExitCode> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let parsed = command().try_get_matches_from(without_json_of_help(&words));
    // Hints repeat `--store` only if the user typed it. A store from the environment also applies
    // to the next command.
    let is_typed =
        |matches: &ArgMatches| matches.value_source("store") == Some(ValueSource::CommandLine);
    let parsed = parsed.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    match parsed {
        Ok((mut cli, matches)) => {
            let mut output = Output::to_standard(&cli.globals.settings(is_typed(&matches)));
            match settings(&matches) {
                Ok(settings) => {
                    output.set(&settings);
                    cli.globals.config = settings;
                }
                Err(failure) => return Err(exit::code(Err(failure), &mut output)),
            }
            Ok((cli, output))
        }
        Err(error) => {
            let mut output = Output::to_standard(&guessed(&words));
            let done = match error.kind() {
                ClapKind::DisplayHelp => output.help(&error.render()),
                ClapKind::DisplayVersion => output.version(&error.render()),
                _ => Err(usage::failure(&error, &words, &command())),
            };
            Err(exit::code(done.and_then(|()| output.flush()), &mut output))
        }
    }
}

/// Removes `--json` from `help COMMAND --json`, because clap reads every word after `help` as a
/// command. [`guessed`] finds the option in the whole command line.
fn without_json_of_help(words: &[OsString]) -> Vec<OsString> {
    let asks_help = words.iter().skip(1).find(|word| !word.to_string_lossy().starts_with('-'));
    let is_help = asks_help.is_some_and(|word| word == "help");
    words.iter().filter(|word| !is_help || *word != "--json").cloned().collect()
}

/// Guesses the output settings (`--json`, `-q`, `--color`) of a command line that could not be
/// parsed.
fn guessed(words: &[OsString]) -> Settings {
    let words = || words.iter().take_while(|word| *word != "--");
    let has = |flag: &str| words().any(|word| word == flag);
    let color = words().zip(words().skip(1)).find_map(|(word, next)| {
        let value = if word == "--color" { next.to_str() } else { None };
        value.or_else(|| word.to_str()?.strip_prefix("--color="))
    });
    let color = match color {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    };
    Settings {
        json: has("--json"),
        silent: has("-q"),
        verbose: false,
        color,
        zone: if has("--utc") { Zone::Utc } else { Zone::Local },
        pages: false,
        store: None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use forklore::api::ANSWERS;

    use super::*;

    #[test]
    fn every_command_with_json_has_an_answer_in_the_contract() {
        let mut program = command().disable_help_subcommand(true);
        // Adds the global options to each command.
        program.build();
        let takes_json =
            |command: &&clap::Command| command.get_arguments().any(|arg| arg.get_id() == "json");
        let commands = program.get_subcommands().filter(takes_json);
        // The interface is for people, and the output of `mcp` is its protocol: both refuse `--json`.
        let commands = commands.map(clap::Command::get_name);
        let commands = commands.filter(|verb| !["ui", "mcp"].contains(verb));
        let commands: BTreeSet<_> = commands.collect();
        let is_there = |verb: &&str| cfg!(feature = "graph") || !["graph", "sparql"].contains(verb);
        let verbs = ANSWERS.iter().filter_map(|answer| answer.usage.split(' ').next());
        let verbs = verbs.filter(|verb| !["help", "--version"].contains(verb));
        let verbs: BTreeSet<_> = verbs.filter(is_there).collect();
        assert_eq!(commands, verbs);
        assert!(commands.len() > 30, "{commands:?}");
    }
}

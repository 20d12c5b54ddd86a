//! The command line: its definition and its parser.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, ColorChoice, CommandFactory, FromArgMatches, Parser};
use forklore_host::{InvalidSetting, Setting};
use forklore_sanitize::shell::quoted;

use crate::commands::Command;
use crate::failure::Failure;
use crate::globals::{CONFIG, Globals, config_option};
use crate::output::{Output, Settings};
use crate::{exit, help, synonyms};

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
    let program = Cli::command().arg(config_option());
    help::grouped(program.mut_subcommands(|command| command.arg(config_option())))
}

/// Parses the settings of `-c`, those before the command first.
fn settings(matches: &ArgMatches) -> Result<Vec<Setting>, Failure> {
    let before = matches.get_many::<String>(CONFIG);
    let behind = matches.subcommand().and_then(|(_, matches)| matches.get_many::<String>(CONFIG));
    let texts = before.into_iter().chain(behind).flatten();
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
    let parsed = command().try_get_matches_from(&words);
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
                ClapKind::DisplayHelp | ClapKind::DisplayVersion => output.help(&error.render()),
                _ => Err(usage(&error, &words)),
            };
            Err(exit::code(done.and_then(|()| output.flush()), &mut output))
        }
    }
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
        pages: false,
        store: None,
    }
}

/// Converts a usage error to a failure with clap's message and tips, without clap's usage block.
fn usage(error: &clap::Error, words: &[OsString]) -> Failure {
    let program = Cli::command();
    let is_verb = |word: &str| program.get_subcommands().any(|verb| verb.get_name() == word);
    let verb = words.iter().filter_map(|word| word.to_str()).find(|word| is_verb(word));
    if error.kind() == ClapKind::InvalidSubcommand
        && let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand)
        && let Some(command) = synonyms::command(typed)
    {
        let message = format!("forklore has no command `{typed}`, but `{command}` does that");
        return Failure::invalid(message).or_try(corrected(words, typed, command));
    }
    usage_of(error, verb)
}

/// Returns the command line with `command` in the place of the word `typed`.
fn corrected(words: &[OsString], typed: &str, command: &str) -> String {
    let mut words: Vec<_> = words.iter().skip(1).map(|word| word.to_string_lossy()).collect();
    if let Some(word) = words.iter_mut().find(|word| *word == typed) {
        *word = command.into();
    }
    let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    format!("forklore {}", words.join(" "))
}

/// Converts a usage error of a command to a failure. `verb` is the command's name, or `None` if the
/// error concerns the program itself.
pub(crate) fn usage_of(error: &clap::Error, verb: Option<&str>) -> Failure {
    let mut text = error.render().to_string();
    // A hostile name is not repeated (docs/semantics.md, Envelope), so remove it from the message.
    for (_, value) in error.context() {
        if let ContextValue::String(value) = value
            && !value.chars().all(|c| c == ' ' || c.is_ascii_graphic())
        {
            text = text.replace(value.as_str(), "...");
        }
    }
    let message = text
        .trim_start_matches("error: ")
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
        // Drop clap's tip to pass a flag as a value: it does not help with a mistyped flag.
        .filter(|line| !line.is_empty() && !line.starts_with("tip: to pass"))
        .collect::<Vec<_>>()
        .join(" ");
    let help =
        verb.map_or_else(|| "forklore --help".to_owned(), |v| format!("forklore {v} --help"));
    Failure::invalid(message).or_try(help)
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
        let commands: BTreeSet<_> = commands.map(clap::Command::get_name).collect();
        let is_there = |verb: &&str| cfg!(feature = "graph") || !["graph", "sparql"].contains(verb);
        let verbs = ANSWERS.iter().filter_map(|answer| answer.usage.split(' ').next());
        let verbs: BTreeSet<_> = verbs.filter(is_there).collect();
        assert_eq!(commands, verbs);
        assert!(commands.len() > 30, "{commands:?}");
    }
}

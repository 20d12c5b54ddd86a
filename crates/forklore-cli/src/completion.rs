//! Shell completion of commands, options, the sessions of the store, and the turns of a session.
//!
//! The script of `forklore completions SHELL` runs the program with [`COMPLETION_VARIABLE`] in its
//! environment. Such a run prints completions and does nothing else. It never creates a store. It
//! reports no errors, because they would appear in the line that the user is typing.

mod cuts;
mod sessions;
mod typed;

use std::env;
use std::ffi::OsStr;

use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};

use typed::Typed;

/// The environment variable that a shell sets to request completions.
const COMPLETION_VARIABLE: &str = "FORKLORE_COMPLETE";
/// The ids of the arguments, in all commands, that take a session.
const SESSIONS: [&str; 6] = ["session", "a", "b", "parent", "branch", "into"];
/// A line of the bash script that completes `@label` as one word. By default, bash treats the text
/// after an `@` as a separate word, a host name.
const WHOLE_LABELS: &str = "COMP_WORDBREAKS=${COMP_WORDBREAKS//@/}\n";
/// The command that takes a session in the trash.
const OF_TRASH: &str = "undelete";

/// Prints completions, if a shell requests them through [`COMPLETION_VARIABLE`]. Returns whether a
/// shell requested them. `program` returns the definition of the command line.
pub(crate) fn answered(program: fn() -> clap::Command) -> bool {
    let here = env::current_dir().ok();
    let completion =
        CompleteEnv::with_factory(|| with_completers(program())).var(COMPLETION_VARIABLE);
    completion.try_complete(env::args_os(), here.as_deref()).unwrap_or(true)
}

/// Returns the script that sets up completion in a shell, or `None` if the shell is unknown.
pub(crate) fn script(shell: &str) -> Option<String> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let program = "forklore";
    shells
        .completer(shell)?
        .write_registration(COMPLETION_VARIABLE, program, program, program, &mut script)
        .ok()?;
    if shell == "bash" {
        script.extend_from_slice(WHOLE_LABELS.as_bytes());
    }
    String::from_utf8(script).ok()
}

/// Adds completion to the arguments that take a session, a cut, an agent or a command.
fn with_completers(program: clap::Command) -> clap::Command {
    let commands: Vec<String> =
        program.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    program.mut_subcommands(|verb| {
        let name = verb.get_name().to_owned();
        verb.mut_args(|arg| with_completer(&name, arg, &commands))
    })
}

fn with_completer(verb: &str, arg: clap::Arg, commands: &[String]) -> clap::Arg {
    let takes_cut = arg.get_value_names().is_some_and(|names| names.iter().any(|it| it == "CUT"));
    match (verb, arg.get_id().as_str()) {
        (_, id) if SESSIONS.contains(&id) => {
            let deleted = verb == OF_TRASH;
            arg.add(ArgValueCompleter::new(move |word: &OsStr| {
                sessions::complete(&typed(), word, deleted)
            }))
        }
        _ if takes_cut => arg.add(ArgValueCompleter::new(|word: &OsStr| {
            cuts::complete(&typed(), &word.to_string_lossy())
        })),
        ("man", "page") => arg.add(one_of(commands.to_vec())),
        _ => arg,
    }
}

/// Reads the command line that the user is typing.
fn typed() -> Typed {
    Typed::of(env::args_os())
}

/// Completes an argument with those words that begin with the text typed so far.
fn one_of<T: Into<String>>(words: Vec<T>) -> ArgValueCompleter {
    let words: Vec<String> = words.into_iter().map(Into::into).collect();
    ArgValueCompleter::new(move |typed: &OsStr| {
        let typed = typed.to_string_lossy();
        let fitting = words.iter().filter(|word| word.starts_with(&*typed));
        fitting.map(CompletionCandidate::new).collect()
    })
}

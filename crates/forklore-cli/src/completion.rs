//! Shell completion of commands, options, and the sessions of the store.
//!
//! The script of `forklore completions SHELL` runs the program with [`COMPLETION_VARIABLE`] in its
//! environment. Such a run prints completions and does nothing else. It never creates a store. It
//! reports no errors, because they would appear in the line that the user is typing.

use std::collections::HashMap;
use std::env;
use std::ffi::OsStr;

use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::{CompleteEnv, Shells};
use forklore::blocking;
use forklore::core::{Header, Label, ShortIds};
use forklore::engine::{ListRequest, Listing};
use forklore_sanitize::terminal;

use crate::{store, workspace};

/// The environment variable that a shell sets to request completions.
const COMPLETION_VARIABLE: &str = "FORKLORE_COMPLETE";
/// The ids of the arguments, in all commands, that take a session.
const SESSIONS: [&str; 6] = ["session", "a", "b", "parent", "branch", "into"];
/// A line of the bash script that completes `@label` as one word. By default, bash treats the text
/// after an `@` as a separate word, a host name.
const WHOLE_LABELS: &str = "COMP_WORDBREAKS=${COMP_WORDBREAKS//@/}\n";
/// The maximum number of sessions of the workspace that completion offers.
const OFFERED: usize = 200;

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

/// The command that takes a session in the trash.
const OF_TRASH: &str = "undelete";

/// Adds completion to the arguments that take a session.
fn with_completers(program: clap::Command) -> clap::Command {
    let names = |arg: &clap::Arg| SESSIONS.contains(&arg.get_id().as_str());
    program.mut_subcommands(|verb| {
        let deleted = verb.get_name() == OF_TRASH;
        let completer = || ArgValueCompleter::new(move |typed: &OsStr| sessions(typed, deleted));
        verb.mut_args(|arg| if names(&arg) { arg.add(completer()) } else { arg })
    })
}

/// Returns the completions for an argument that takes a session. With `deleted`, the argument takes
/// a session in the trash. If the typed text looks like a path, the completions are file names.
fn sessions(typed: &OsStr, deleted: bool) -> Vec<CompletionCandidate> {
    let text = typed.to_string_lossy();
    if text.contains('/') || text.contains('~') {
        return PathCompleter::file().complete(typed);
    }
    let offered = listing(deleted).map(|listing| candidates(&listing.sessions));
    let mut offered = offered.unwrap_or_default();
    offered.retain(|candidate| !deleted || candidate.get_value() != "last");
    let fits = |candidate: &CompletionCandidate| {
        candidate.get_value().to_string_lossy().starts_with(&*text)
    };
    offered.into_iter().filter(fits).collect()
}

/// Returns the last updated sessions of this folder. With `deleted`, returns those in the trash
/// instead. Returns `None` if the store does not exist or cannot be read.
fn listing(deleted: bool) -> Option<Listing> {
    let url = store::url(env::var(store::VARIABLE).ok().as_deref()).ok()?;
    if !url.exists() {
        return None;
    }
    let request = ListRequest {
        workspace: Some(workspace::of(None).ok()?),
        limit: OFFERED,
        deleted,
        ..ListRequest::default()
    };
    blocking::open_url(&url).ok()?.list(&request).ok()
}

/// Returns the completions `last`, each label that only one of these sessions has, and the short
/// ids.
fn candidates(sessions: &[Header]) -> Vec<CompletionCandidate> {
    let mut labels: HashMap<&Label, usize> = HashMap::new();
    for header in sessions {
        *labels.entry(&header.label).or_default() += 1;
    }
    let short = ShortIds::of(sessions.iter().map(|header| &header.id));
    let mut offered = Vec::new();
    offered.extend(sessions.first().map(|header| candidate("last", header)));
    let labelled = sessions.iter().filter(|header| labels.get(&header.label) == Some(&1));
    offered.extend(labelled.map(|header| candidate(&format!("@{}", header.label), header)));
    offered.extend(sessions.iter().map(|header| candidate(short.get(&header.id), header)));
    // The shell inserts this stored text into a command line, so only plain characters are allowed.
    let plain = |c: char| c.is_ascii_alphanumeric() || "@-_.".contains(c);
    offered.retain(|candidate| candidate.get_value().to_string_lossy().chars().all(plain));
    offered
}

fn candidate(value: &str, header: &Header) -> CompletionCandidate {
    let title = header.title.as_deref().unwrap_or(header.label.as_str());
    CompletionCandidate::new(value).help(Some(terminal::line(title).to_string().into()))
}

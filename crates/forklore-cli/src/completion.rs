//! What a shell may put where the cursor is: the verbs and options, and the sessions of the store.
//!
//! The script of `forklore completions SHELL` runs the program with [`ASKED`] in its environment.
//! Such a run answers and does nothing else; it never makes a store, and is silent about whatever
//! goes wrong: the line that is being typed is no place for errors.

use std::collections::HashMap;
use std::env;
use std::ffi::OsStr;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::{CompleteEnv, Shells};
use forklore::core::{Header, Label};
use forklore::engine::{ListRequest, Listing};
use forklore::{StoreUrl, blocking};
use forklore_sanitize::terminal;

use crate::args::Cli;
use crate::output::ShortIds;
use crate::{store, workspace};

/// The variable by which a shell says that it asks.
const COMPLETION_VARIABLE: &str = "FORKLORE_COMPLETE";
/// The arguments, of any verb, that name a session.
const SESSIONS: [&str; 6] = ["session", "a", "b", "parent", "branch", "into"];
/// Else bash takes what stands behind an `@` for a word of its own, the name of a host.
const WHOLE_LABELS: &str = "COMP_WORDBREAKS=${COMP_WORDBREAKS//@/}\n";
/// Sessions of the workspace that are offered.
const OFFERED: usize = 200;

/// Answers a shell that asks; whether one did.
pub(crate) fn answered() -> bool {
    let here = env::current_dir().ok();
    let asked = CompleteEnv::with_factory(command).var(COMPLETION_VARIABLE);
    asked.try_complete(env::args_os(), here.as_deref()).unwrap_or(true)
}

/// The script that lets a shell ask, by the shell's name; none for a shell that is not known.
pub(crate) fn script(shell: &str) -> Option<String> {
    let mut script = Vec::new();
    let known = Shells::builtins();
    let program = "forklore";
    known
        .completer(shell)?
        .write_registration(COMPLETION_VARIABLE, program, program, program, &mut script)
        .ok()?;
    if shell == "bash" {
        script.extend_from_slice(WHOLE_LABELS.as_bytes());
    }
    String::from_utf8(script).ok()
}

/// The command line, with what completes a session.
fn command() -> clap::Command {
    let names = |arg: &clap::Arg| SESSIONS.contains(&arg.get_id().as_str());
    let completer = || ArgValueCompleter::new(sessions);
    Cli::command().mut_subcommands(|verb| {
        verb.mut_args(|arg| if names(&arg) { arg.add(completer()) } else { arg })
    })
}

/// What could stand where a session is named.
fn sessions(typed: &OsStr) -> Vec<CompletionCandidate> {
    let text = typed.to_string_lossy();
    if text.contains('/') || text.contains('~') {
        return PathCompleter::file().complete(typed);
    }
    let offered = listing().map(|listing| candidates(&listing.sessions)).unwrap_or_default();
    let fits = |candidate: &CompletionCandidate| {
        candidate.get_value().to_string_lossy().starts_with(&*text)
    };
    offered.into_iter().filter(fits).collect()
}

/// The last sessions of this folder, if there is a store.
fn listing() -> Option<Listing> {
    let url = store::url(env::var("FORKLORE_STORE").ok().as_deref()).ok()?;
    if !exists(&url) {
        return None;
    }
    let request = ListRequest {
        workspace: Some(workspace::of(None).ok()?),
        limit: OFFERED,
        ..ListRequest::default()
    };
    blocking::open_url(&url).ok()?.list(&request).ok()
}

fn exists(url: &StoreUrl) -> bool {
    url.path().is_some_and(Path::exists)
}

/// `last`, the labels that mean one session, and the ids.
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
    // Stored text becomes part of a line that somebody runs.
    let plain = |c: char| c.is_ascii_alphanumeric() || "@-_.".contains(c);
    offered.retain(|candidate| candidate.get_value().to_string_lossy().chars().all(plain));
    offered
}

fn candidate(value: &str, header: &Header) -> CompletionCandidate {
    let title = header.title.as_deref().unwrap_or(header.label.as_str());
    CompletionCandidate::new(value).help(Some(terminal::line(title).to_string().into()))
}

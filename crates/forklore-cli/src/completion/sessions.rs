//! Completions of an argument that takes a session.

use std::collections::HashMap;
use std::ffi::OsStr;

use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use forklore::core::{Header, Label, ShortIds};
use forklore::engine::{Engine, ListRequest};
use forklore_sanitize::terminal;

use super::typed::Typed;

/// The maximum number of sessions that completion offers.
const OFFERED: usize = 200;

/// Returns the sessions that fit the text `word`. With `deleted`, returns those in the trash. If
/// the text looks like a path, returns file names instead.
pub(super) fn complete(typed: &Typed, word: &OsStr, deleted: bool) -> Vec<CompletionCandidate> {
    let text = word.to_string_lossy();
    if text.contains('/') || text.contains('~') {
        return PathCompleter::file().complete(word);
    }
    let labels = text.rsplit_once('@').filter(|(family, _)| !family.is_empty());
    let found = match labels {
        Some((family, _)) => of_family(typed, family, &text),
        None => of_folder(typed, deleted, &text),
    };
    found.unwrap_or_default()
}

/// Returns the labels of the branches in the family of the session `reference`, in the form
/// `REF@label`. Leaves out those that do not begin with `text`. Returns `None` if the store or the
/// session cannot be read.
fn of_family(typed: &Typed, reference: &str, text: &str) -> Option<Vec<CompletionCandidate>> {
    let engine = typed.engine()?;
    let session = engine.resolve(reference, &typed.scope()?).ok()?;
    let family = engine.branches(&session.id).ok()?.branches;
    let value = |label: &Label| format!("{reference}@{label}");
    let fitting = family.iter().filter(|branch| value(&branch.label).starts_with(text));
    let offered = fitting.take(OFFERED).filter_map(|branch| {
        let header = engine.show(&branch.session_id).ok()?;
        candidate(&engine, &value(&branch.label), &header)
    });
    Some(offered.collect())
}

/// Returns completions for the sessions of the folder that were updated last: `last`, each label
/// that only one of these sessions has (as `@label`), and their short ids. Leaves out those that do
/// not begin with `text`. Returns `None` if the store cannot be read.
fn of_folder(typed: &Typed, deleted: bool, text: &str) -> Option<Vec<CompletionCandidate>> {
    let engine = typed.engine()?;
    let workspace = typed.scope()?.workspace;
    let request = ListRequest { workspace, limit: OFFERED, deleted, ..ListRequest::default() };
    let sessions = engine.list(&request).ok()?.sessions;
    let mut labels: HashMap<&Label, usize> = HashMap::new();
    for header in &sessions {
        *labels.entry(&header.label).or_default() += 1;
    }
    let short = ShortIds::of(sessions.iter().map(|header| &header.id));
    let last = sessions.first().filter(|_| !deleted).map(|header| ("last".to_owned(), header));
    let labelled = sessions.iter().filter(|header| labels.get(&header.label) == Some(&1));
    let labelled = labelled.map(|header| (format!("@{}", header.label), header));
    let by_id = sessions.iter().map(|header| (short.get(&header.id).to_owned(), header));
    let offered = last.into_iter().chain(labelled).chain(by_id);
    let fitting = offered.filter(|(value, _)| value.starts_with(text));
    Some(fitting.filter_map(|(value, header)| candidate(&engine, &value, header)).collect())
}

/// Returns the completion `value`, described by the session's title or first words. Returns `None`
/// if `value`, which comes from the store, has a character that a shell might interpret.
fn candidate(engine: &Engine, value: &str, header: &Header) -> Option<CompletionCandidate> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "@-_.".contains(c);
    if !value.chars().all(is_plain) {
        return None;
    }
    let session = engine.described(header);
    let title = session.title.or(session.first_words);
    let title = title.as_deref().unwrap_or(header.label.as_str());
    Some(CompletionCandidate::new(value).help(Some(terminal::line(title).to_string().into())))
}

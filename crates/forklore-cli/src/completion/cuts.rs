//! Completions of an argument that takes a cut (a position in a session), such as `--at`.

use clap_complete::engine::CompletionCandidate;
use forklore::core::Header;
use forklore::engine::{Engine, LogRange, Result};
use forklore_sanitize::terminal;

use super::typed::Typed;

/// The maximum number of events, from the end of the session, in which turns are looked for.
const LOOKED_AT: u64 = 500;

/// The forms of a cut, each with an explanation. They are offered even without a session.
const FORMS: [(&str, &str); 7] = [
    ("start", "before everything: an empty history"),
    ("end", "after everything"),
    ("turn:", "after a whole turn, from 1; -1 is the last"),
    ("message:", "after a message, from 0; -1 is the last"),
    ("index:", "after the first N messages"),
    ("seq:", "after an event, by its place in the log"),
    ("event:", "after an event, by its id"),
];

/// Returns the cuts that fit the text `word`: the latest turns of the session that the command line
/// names, the last turn first, and the other forms of a cut.
pub(super) fn complete(typed: &Typed, word: &str) -> Vec<CompletionCandidate> {
    let mut offered = turns_of_session(typed).unwrap_or_default();
    offered.extend(FORMS.map(|(form, help)| (form.to_owned(), help.to_owned())));
    let fitting = offered.into_iter().filter(|(value, _)| value.starts_with(word));
    fitting.map(|(value, help)| CompletionCandidate::new(value).help(Some(help.into()))).collect()
}

fn turns_of_session(typed: &Typed) -> Option<Vec<(String, String)>> {
    let engine = typed.engine()?;
    let scope = typed.scope()?;
    // The word after the command is not always the session: `resume-in` takes the agent first.
    let mut named = typed.words.iter().skip(1);
    let session = named.find_map(|word| engine.resolve(word, &scope).ok())?;
    turns(&engine, &session).ok()
}

/// Returns the latest turns of the session, the last turn first: the cut after each turn, and the
/// text of the message with which the turn began.
fn turns(engine: &Engine, session: &Header) -> Result<Vec<(String, String)>> {
    let from = u64::try_from(session.head_seq()).unwrap_or(0).saturating_sub(LOOKED_AT);
    let range = LogRange { from, ..LogRange::default() };
    let mut begun = Vec::new();
    for stored in engine.log_events(session, range) {
        let event = stored?.event;
        if event.effect.starts_turn {
            begun.push(engine.message(&event).plain_text());
        }
    }
    let last_first = begun.iter().rev().zip((1..=session.counts.turns).rev());
    Ok(last_first
        .map(|(text, turn)| (format!("turn:{turn}"), terminal::line(text).to_string()))
        .collect())
}

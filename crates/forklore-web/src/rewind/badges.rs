//! Marks the entries of a conversation after which files were recorded.

use forklore_core::units::count;
use forklore_core::{Header, SessionId};
use maud::{Markup, html};

use super::means::{Files, folder_of};
use crate::Pages;
use crate::answer::Answer;
use crate::entry::Entry;
use crate::recorded::State;
use crate::window::Window;

/// How many pairs of snapshots are compared for one page. The others have no number until the page
/// is read again.
const COMPARED: usize = 24;

/// Shows that files were recorded after an entry, with the number of those that changed.
pub(crate) fn badge(session: &SessionId, entry: &Entry) -> Markup {
    html! {
        @if let Some(state) = entry.states.last() {
            a.badge href={ "/s/" (session) "/files?at=" (state.seq) } {
                @match state.changed {
                    Some(0) => "files unchanged",
                    Some(changed) => { (count(changed, "file")) " changed" }
                    None => "files recorded",
                }
            }
        }
    }
}

/// Finds out which entries of a page have a state of the session's folder, and how many files
/// changed since the one before.
pub(crate) fn complete(pages: &Pages, window: &mut Window) -> Answer<()> {
    let Window { header, entries, to, .. } = window;
    let Some(files) = &pages.files else {
        entries.iter_mut().for_each(|entry| entry.states.clear());
        return Ok(());
    };
    let folder = folder_of(header).to_string_lossy().into_owned();
    for entry in entries.iter_mut() {
        entry.states.retain(|state| state.folder == folder);
    }
    follow(pages, files, (header, &folder), entries, *to)?;
    let first = entries.iter().find_map(|entry| entry.states.first());
    let mut before = match (first, entries.first()) {
        (Some(first), Some(entry)) if first.before.is_none() => {
            files.files().named_near(&pages.engine, &header.id, entry.seq, &folder)?
        }
        _ => None,
    };
    let mut compared = 0;
    for entry in entries.iter_mut() {
        let since = entry.states.first().and_then(|state| state.before.clone());
        let since = since.or(before.take());
        let Some(state) = entry.states.last_mut() else {
            before = since;
            continue;
        };
        before = Some(state.snapshot.clone());
        let Some(since) = since else { continue };
        let pair = (since.clone(), state.snapshot.clone());
        state.before = Some(since);
        state.changed = match files.remembered(&pair) {
            None if compared < COMPARED => {
                compared += 1;
                files.count(pair)
            }
            counted => counted,
        };
    }
    Ok(())
}

/// Adds the states that the hooks of an agent recorded, to the last entry of each turn.
fn follow(
    pages: &Pages,
    files: &Files,
    (header, folder): (&Header, &str),
    entries: &mut [Entry],
    to: u64,
) -> Answer<()> {
    let starts = entries.iter().skip(1).map(|entry| entry.starts_turn.then_some(entry.seq));
    let ends = starts.chain([Some(to)]).enumerate();
    let ends: Vec<_> = ends
        .filter_map(|(number, next)| Some((number, next?.checked_sub(1)?)))
        .filter(|(number, _)| *number < entries.len())
        .collect();
    let positions: Vec<_> = ends.iter().map(|(_, position)| *position).collect();
    let found = files.files().belonging(&pages.engine, header, folder, &positions)?;
    let mut last = None;
    for ((number, seq), found) in ends.into_iter().zip(found) {
        let Some(found) = found.filter(|found| last.as_ref() != Some(found)) else { continue };
        if let Some(entry) = entries.get_mut(number)
            && entry.states.is_empty()
        {
            entry.states.push(State {
                seq,
                folder: folder.to_owned(),
                snapshot: found.snapshot.clone(),
                before: found.before.clone(),
                changed: None,
            });
        }
        last = Some(found);
    }
    Ok(())
}

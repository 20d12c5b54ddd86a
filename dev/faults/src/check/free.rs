//! Checks that the remains of interrupted calls do not block later calls.

use std::collections::BTreeSet;

use forklore_conformance::scene::id;
use forklore_core::ErrorKind;
use forklore_store::port::{Filter, Headers};

use super::unowned::files;
use crate::caller::Caller;
use crate::history::{Answer, Call, Entry, Line, entries, word};
use crate::kind::Opened;
use crate::work::TRUNK;

/// Creates each child session that is missing because its creation was interrupted, with the
/// intended id and label. These must be free. Returns the calls, and a description of each id or
/// label that was not free.
#[must_use]
pub fn claim_open(opened: &Opened, process: &str, history: &[Entry]) -> (Vec<Entry>, Vec<String>) {
    let (mut lines, mut problems): (Vec<Line>, Vec<String>) = Default::default();
    let mut caller = Caller::new(opened, |line| lines.push(line));
    for entry in history.iter().filter(|entry| entry.is_open()) {
        let Call::Create { session, parent: Some(_), .. } = &entry.call else { continue };
        match opened.store().header(&id(session)) {
            Ok(_) => continue,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => problems.push(format!("{session} is half there: {error}")),
        }
        let (events, parent) = (vec![format!("{process}.{session}")], Some(TRUNK.to_owned()));
        let call =
            Call::Create { session: session.clone(), parent, inheritable: 1, copy: false, events };
        if let Answer::Refused { message, .. } = caller.call(call) {
            problems.push(format!("{session} was never made, and blocks its name: {message}"));
        }
    }
    drop(caller);
    (entries(process, &lines), problems)
}

/// Searches the store's files for texts of deleted events. Returns the id and the file of each
/// event that only deleted sessions had and whose text a file still contains. Call it after a
/// garbage collection.
///
/// # Errors
/// If the store or one of its files cannot be read.
pub fn remains(
    opened: &Opened,
    dir: &std::path::Path,
    history: &[Entry],
) -> Result<Vec<String>, String> {
    let message = |error: forklore_store::Error| format!("{}: {error}", word(error.kind()));
    let all = Filter { deleted: true, ..Filter::default() };
    let headers = opened.store().sessions(&all, None, 0).and_then(Headers::all).map_err(message)?;
    let (mut gone, mut shown): (BTreeSet<String>, BTreeSet<String>) = Default::default();
    for header in headers {
        if header.deleted.is_none() {
            let log = super::log(opened, header.id.as_str()).map_err(message)?;
            shown.extend(log.into_iter().map(|stored| stored.event.id.to_string()));
            continue;
        }
        let calls = history.iter().filter(|it| it.call.session() == Some(header.id.as_str()));
        gone.extend(calls.flat_map(|entry| entry.call.events().iter().cloned()));
    }
    gone.retain(|id| !shown.contains(id));
    let mut found = Vec::new();
    for path in files(dir).map_err(|error| error.to_string())? {
        let bytes = std::fs::read(&path).map_err(|error| error.to_string())?;
        // Only the event's text must be gone. The id alone may remain, as the position at which a
        // child begins.
        let there = written(&bytes).filter(|event| gone.contains(*event));
        found.extend(there.map(|event| format!("{event} in {}", path.display())));
    }
    Ok(found)
}

/// Finds the event texts in `bytes`. Returns the first word of each text, which is the id of the
/// event.
fn written(bytes: &[u8]) -> impl Iterator<Item = &str> {
    let before = b"{\"content\":\"";
    let locations = bytes.windows(before.len()).enumerate().filter(move |(_, it)| it == before);
    locations.filter_map(move |(at, _)| {
        let text = bytes.get(at + before.len()..)?;
        std::str::from_utf8(text.split(|byte| *byte == b' ').next()?).ok()
    })
}

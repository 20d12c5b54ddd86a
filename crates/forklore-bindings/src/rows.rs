//! Answers with a line for each item, read piece by piece.

use std::sync::{Arc, Mutex, PoisonError};

use forklore::engine::ReplayRange;
use forklore::store::port::LogEntry;
use forklore::{Engine, Error};
use forklore_api::Request;
use forklore_core::{Header, envelope};

use crate::failure::{Failure, Result};
use crate::open_store::{Core, OpenStore};

type Lines = Box<dyn Iterator<Item = Result<String>> + Send>;

/// The items of an answer, each as JSON. They are read from the store as they are requested.
pub struct Rows {
    lines: Core<Mutex<Lines>>,
}

impl Rows {
    pub(crate) fn new(store: &Arc<OpenStore>, request: Request) -> Result<Self> {
        let lines = Core::new(store, |engine| Ok(Mutex::new(lines(engine, request)?)))?;
        Ok(Self { lines })
    }

    /// Reads up to `limit` items, as one JSON list. The list is empty at the end.
    ///
    /// # Errors
    /// `corrupt` if the store is damaged, `missing_ancestor` if inherited events are missing,
    /// `invalid_args` if the store was closed.
    pub fn page(&self, limit: usize) -> Result<String> {
        self.lines.call(|lines| {
            listed(lines.lock().unwrap_or_else(PoisonError::into_inner).by_ref().take(limit))
        })
    }
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows").finish_non_exhaustive()
    }
}

/// Returns all items of an answer as one JSON list.
pub(crate) fn all(engine: &Engine, request: Request) -> Result<String> {
    listed(lines(engine, request)?)
}

fn listed(lines: impl Iterator<Item = Result<String>>) -> Result<String> {
    let mut list = String::from("[");
    for line in lines {
        if list.len() > 1 {
            list.push(',');
        }
        list.push_str(&line?);
    }
    list.push(']');
    Ok(list)
}

fn lines(engine: &Engine, request: Request) -> Result<Lines> {
    Ok(match request {
        Request::Log { session_id, range } => {
            let header = engine.show(&session_id)?;
            let events = engine.log_events(&header, range);
            Box::new(events.map(move |entry| line(&header, &entry?)))
        }
        Request::Replay { session_id, from, up_to, last } => {
            let records = engine.replay_range(&session_id, &ReplayRange { from, up_to, last })?;
            Box::new(records.map(|record| json(&record?)))
        }
        _ => return Err(Failure::invalid("the answer of this verb is no list of lines")),
    })
}

/// Returns an event as the line that `log` prints.
fn line(header: &Header, entry: &LogEntry) -> Result<String> {
    let origin = (entry.origin.session_id != header.id).then_some(&entry.origin);
    let mut line = Vec::new();
    envelope::write_envelope(&mut line, header, entry.seq, origin, &entry.event)
        .map_err(|source| Error::io("writing an event", source))?;
    String::from_utf8(line).map_err(|_| Failure::invalid("the event is not UTF-8"))
}

/// Returns a value as JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Failure::invalid(error.to_string()))
}

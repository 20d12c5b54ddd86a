//! The functions whose instructions are counted. callgrind finds them by name, so none of them may
//! be inlined.

use std::error::Error;

use forklore::Engine;
use forklore::blocking::open;
use forklore::prelude::*;
use forklore::store::port::At;

/// Opens an existing store, reads a session's header, and closes the store. Does so `times` times.
#[inline(never)]
pub(crate) fn counted_open(
    url: &str,
    id: &SessionId,
    times: usize,
) -> Result<usize, Box<dyn Error>> {
    for _ in 0..times {
        open(url)?.show(id)?;
    }
    Ok(times)
}

/// Reads every event of a session, one event at a time. Returns the number of events.
#[inline(never)]
pub(crate) fn counted_load(engine: &Engine, id: &SessionId) -> Result<usize, forklore::Error> {
    engine.events(id, At::Seq(0)).try_fold(0, |events, stored| stored.map(|_| events + 1))
}

/// Creates the replay records (plain conversation events) of a session. Returns the number of
/// records.
#[inline(never)]
pub(crate) fn counted_replay(engine: &Engine, id: &SessionId) -> Result<usize, forklore::Error> {
    engine.replay(id, None)?.try_fold(0, |records, record| record.map(|_| records + 1))
}

/// Forks a session at the cut `at`, `times` times.
#[inline(never)]
pub(crate) fn counted_fork(
    engine: &Engine,
    id: &SessionId,
    at: &Selector,
    times: usize,
) -> Result<usize, forklore::Error> {
    let request = Fork::of(id.clone()).at(at.clone());
    for _ in 0..times {
        engine.fork(&request)?;
    }
    Ok(times)
}

/// Appends messages, with one append per message. Returns the number of appends.
#[inline(never)]
pub(crate) fn counted_append(
    engine: &Engine,
    id: &SessionId,
    messages: Vec<NewEvent>,
) -> Result<usize, forklore::Error> {
    let appends = messages.len();
    for message in messages {
        engine.append(id, &message.into())?;
    }
    Ok(appends)
}

//! The counted functions. callgrind finds them by name, so none of them may be inlined.

use std::error::Error;

use forklore::Engine;
use forklore::blocking::open;
use forklore::prelude::*;
use forklore::store::port::At;

/// Opens an existing store, reads a session's header, and closes the store, `times` times.
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

/// Reads every event of a session, one after the other.
#[inline(never)]
pub(crate) fn counted_load(engine: &Engine, id: &SessionId) -> Result<usize, forklore::Error> {
    engine.events(id, At::Seq(0)).try_fold(0, |events, stored| stored.map(|_| events + 1))
}

/// Creates a replay record of every message of a session.
#[inline(never)]
pub(crate) fn counted_replay(engine: &Engine, id: &SessionId) -> Result<usize, forklore::Error> {
    engine.replay(id, None)?.try_fold(0, |records, record| record.map(|_| records + 1))
}

/// Forks a session in the middle, `times` times.
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

/// Appends messages, each in its own append.
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

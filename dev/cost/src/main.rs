//! Runs each counted function on fixed input. `cargo xtask cost` runs this program and counts the
//! instructions of these functions.
//!
//! Two runs of one build execute the same instructions: the clock and the random numbers are
//! deterministic, only one thread works, and the store is created in the directory given as
//! argument.

mod counted;
mod still;

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use forklore::Engine;
use forklore::core::limits::BATCH_EVENTS;
use forklore::prelude::*;

use still::Still;

/// The number of events of the counted session. For this session, the instructions of opening,
/// forking, loading and replaying are counted.
const EVENTS: usize = 2_000;

/// The number of repetitions of each cheap operation: opening, forking and appending.
const TIMES: usize = 50;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: forklore-cost FOLDER")?;
    work(Path::new(&folder))
}

/// Creates and fills a store in `folder`. Then runs the functions whose instructions are counted on
/// that store.
fn work(folder: &Path) -> Result<(), Box<dyn Error>> {
    let url = format!("sqlite:{}", folder.join("store.db").display());
    let clock = Arc::new(Still::default());
    let engine = forklore::blocking::open(&url)?.with_clock(clock.clone());
    let id = fill(&engine)?;
    drop(engine);
    expect("openings", counted::counted_open(&url, &id, TIMES)?, TIMES)?;
    let engine = forklore::blocking::open(&url)?.with_clock(clock);
    expect("events loaded", counted::counted_load(&engine, &id)?, EVENTS)?;
    expect("records replayed", counted::counted_replay(&engine, &id)?, EVENTS)?;
    let turns = Selector::Turn(i64::try_from(EVENTS / 4)?);
    expect("forks", counted::counted_fork(&engine, &id, &turns, TIMES)?, TIMES)?;
    let messages = (0..TIMES).map(message).collect::<Result<Vec<_>, _>>()?;
    expect("appends", counted::counted_append(&engine, &id, messages)?, TIMES)
}

/// Fails unless a measured function did all its work: `done` must equal `wanted`. `what` names the
/// work in the error message.
fn expect(what: &str, done: usize, wanted: usize) -> Result<(), Box<dyn Error>> {
    if done == wanted { Ok(()) } else { Err(format!("{done} {what}, not {wanted}").into()) }
}

fn fill(engine: &Engine) -> Result<SessionId, Box<dyn Error>> {
    let id = engine.create(&Create::in_workspace(Workspace::new("/home/dev/demo")))?.id;
    for start in (0..EVENTS).step_by(BATCH_EVENTS) {
        let batch = start..EVENTS.min(start + BATCH_EVENTS);
        let batch = batch.map(message).collect::<Result<Vec<_>, _>>()?;
        engine.append(&id, &batch.into())?;
    }
    Ok(id)
}

/// Returns message number `n`, from 0: 1 KB of JSON. Even numbers are user messages, odd numbers
/// assistant messages.
fn message(n: usize) -> Result<NewEvent, forklore::Error> {
    let mut text = format!("{n:>8} {}", "It depends on what the caller has seen. ".repeat(26));
    text.truncate(1_010);
    let event =
        if n.is_multiple_of(2) { NewEvent::user(&text) } else { NewEvent::assistant(&text) };
    Ok(event?)
}

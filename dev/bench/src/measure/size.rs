//! Measures the size of a session on disk, compared with its payloads alone.

use std::time::Duration;

use forklore::core::limits::BATCH_EVENTS;
use forklore::prelude::*;

use super::load::stream;
use crate::error::{Error, Result};
use crate::figure::{Figure, Goal, Unit};
use crate::prose::Prose;
use crate::raw::Seen;
use crate::samples::{pair, timed};
use crate::scene::{Bed, Scene, workspace};
use crate::thousands::grouped;

/// The size of the payload of each event, in bytes.
const PAYLOAD: usize = 1_024;

const ROUNDS: usize = 10;

pub(super) fn measure(scene: &Scene) -> Result<Vec<Figure>> {
    let events = scene.sizes.stored;
    let (plain, id) = scene.store(|engine| write(engine, events))?;
    let (cold, cold_id) = scene.store(|engine| write(engine, events))?;
    cold.engine.pack(Duration::ZERO)?;
    let read = |bed: &Bed, id: &SessionId| timed(|| check(stream(&bed.engine, id)?, events));
    let (warm_took, cold_took) =
        pair(scene.rounds(ROUNDS), || read(&plain, &id), || read(&cold, &cold_id))?;
    // The baseline is a file of payload lines, without ids, times and types.
    let raw = (events * (PAYLOAD + 1)) as f64;
    let megabytes = |bytes: f64| format!("{:.1} MB", bytes / 1e6);
    let space = |bed: Bed, what: &str, most| -> Result<Figure> {
        let stored = bed.close().size()? as f64;
        let figure = Figure::alone(what, Goal::AtMost(most), stored / raw, Unit::Times);
        Ok(figure.from(megabytes(stored), megabytes(raw)))
    };
    let what = format!("store of {} events of 1 KB", grouped(events));
    Ok(vec![
        space(plain, &format!("{what} against their payloads"), 1.1)?,
        space(cold, &format!("{what}, cold, packed, against their payloads"), 0.4)?,
        Figure::ratio(
            "load of the packed against the same unpacked",
            Goal::None,
            &warm_took,
            &cold_took,
        ),
    ])
}

/// Checks that the session that was read still has all events: saving space must not lose any.
fn check(seen: Seen, events: usize) -> Result<()> {
    if seen == (Seen { events, bytes: events * PAYLOAD }) {
        return Ok(());
    }
    Err(Error::Wrong(format!("{seen:?} read of {events} events")))
}

/// Creates a session of `events` messages, which contain generated prose and code.
fn write(engine: &Engine, events: usize) -> Result<SessionId> {
    let id = engine.create(&Create::in_workspace(workspace()))?.id;
    let mut prose = Prose::new();
    let kinds = [EventType::USER_MESSAGE, EventType::ASSISTANT_MESSAGE];
    let mut kinds = kinds.into_iter().cycle();
    let mut left = events;
    while left > 0 {
        let count = left.min(BATCH_EVENTS);
        let batch = kinds.by_ref().take(count).map(|kind| {
            let data = Data::parse(&prose.payload(PAYLOAD));
            let data = data.map_err(|error| Error::Wrong(error.to_string()))?;
            Ok(NewEvent::new(kind, data))
        });
        engine.append(&id, &batch.collect::<Result<Vec<_>>>()?.into())?;
        left -= count;
    }
    Ok(id)
}
